# The pipeline as an image: `docker compose build pipeline`. Python packages come from the lock with their
# hashes; where pip and apt look for them is the business of the machine that builds.
FROM python:3.11.14-slim-trixie AS build
WORKDIR /src
RUN python -m venv /opt/cdc
ENV PATH=/opt/cdc/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements/build.lock requirements/runtime.lock requirements/
RUN pip install --require-hashes -r requirements/build.lock \
 && pip install --no-build-isolation --require-hashes -r requirements/runtime.lock
COPY pyproject.toml README.md LICENSE ./
COPY cdc cdc
COPY connectors connectors
COPY sinks sinks
COPY snapshots snapshots
RUN pip install --no-deps --no-build-isolation .

FROM python:3.11.14-slim-trixie
# Spark needs Java 17 or newer; slim images have lost the folder that the JRE's post-install links into.
RUN mkdir -p /usr/share/man/man1 \
 && apt-get update \
 && apt-get install -y --no-install-recommends openjdk-21-jre-headless \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home cdc
COPY --from=build /opt/cdc /opt/cdc
ENV PATH=/opt/cdc/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/cdc
ENTRYPOINT ["cdc"]
CMD ["--help"]
