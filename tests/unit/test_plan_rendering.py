"""What a plan looks like to a reader, and what it must never show."""

from connectors.action import HIDDEN, Action, Setting, Verb, changed_settings


def test_only_what_changes_is_listed() -> None:
    before = {"a": "1", "b": "2", "old": "x"}
    after = {"a": "1", "b": "3", "new": "y"}
    assert changed_settings(before, after) == (
        Setting("b", "2", "3"),
        Setting("new", None, "y"),
        Setting("old", "x", None),
    )


def test_settings_we_say_nothing_about_can_be_left_out() -> None:
    assert changed_settings({"theirs": "1"}, {"ours": "2"}, only=True) == (
        Setting("ours", None, "2"),
    )


def test_a_plain_password_is_never_shown_but_a_reference_is() -> None:
    [setting] = changed_settings({"database.password": "canary"}, {"database.password": "${env:A}"})
    assert (setting.before, setting.after) == (HIDDEN, "${env:A}")
    [sasl] = changed_settings({}, {"sasl.jaas.config": "canary"})
    assert "canary" not in str(sasl)


def test_a_reference_with_something_beside_it_is_hidden_too() -> None:
    [setting] = changed_settings({}, {"database.password": "canary${env:A}"})
    assert setting.after == HIDDEN


def test_each_kind_of_action_is_told_by_its_first_letter() -> None:
    action = Action(
        Verb.UPDATE,
        "topic shop.public.orders",
        (Setting("partitions", "2", "4"), Setting("x", None, "1"), Setting("y", "1", None)),
        note="look",
        fix="do this",
    )
    assert action.lines() == [
        "~ topic shop.public.orders",
        "    partitions: 2 → 4",
        "    x = 1",
        "    y: 1 → (removed)",
        "    look",
        "    fix: do this",
    ]
    assert Action(Verb.REFUSED, "t").lines() == ["! t"]
    assert Action(Verb.CREATE, "t").lines() == ["+ t"]


def test_the_json_form_holds_the_same() -> None:
    action = Action(Verb.CREATE, "slot x", (Setting("plugin", None, "pgoutput"),), note="n")
    assert action.as_dict() == {
        "verb": "create",
        "target": "slot x",
        "settings": [{"name": "plugin", "before": None, "after": "pgoutput"}],
        "note": "n",
        "fix": "",
    }
