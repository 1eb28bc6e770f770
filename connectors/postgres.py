"""The Postgres side of a pipeline: role, grants, publication, truncate triggers, slot, in order.

Each part says what it wants and what it found, in its own file; this one only puts them in order.
"""

from cdc.config import Pipeline
from cdc.endpoints import Endpoints
from connectors.action import Action
from connectors.database import admin_session
from connectors.publication import publication_actions
from connectors.role import grant_actions, role_action
from connectors.slot import slot_actions
from connectors.truncate import truncate_actions


def postgres_actions(pipeline: Pipeline, endpoints: Endpoints) -> list[Action]:
    """Compare what shall be in the source database with what is there."""
    with admin_session(endpoints) as connection:
        return [
            role_action(connection, endpoints),
            *grant_actions(connection, pipeline, endpoints),
            *publication_actions(connection, pipeline, endpoints),
            *truncate_actions(connection, pipeline, endpoints),
            *slot_actions(connection, pipeline, endpoints),
        ]
