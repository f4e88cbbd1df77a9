"""What a program does with the generated client: ask, lock, be refused, release, read the log."""

import os

from comity_client import AuthenticatedClient
from comity_client.api.ledger import log
from comity_client.api.locks import lock, locks, unlock
from comity_client.api.server import status
from comity_client.models import Error, LockLock, LockLockGrant
from comity_client.types import Unset

repo = os.environ["SCENARIO_REPO"]


def client(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ["SCENARIO_URL"], token=os.environ[token])


human, agent = client("SCENARIO_TOKEN"), client("SCENARIO_AGENT")

where = status.sync(client=human)
assert where.version and where.url == os.environ["SCENARIO_URL"], where

grant = lock.sync(client=agent, comity_cwd=repo, body=LockLock(paths=["src/a.rs"], reason="fixing login"))
assert isinstance(grant, LockLockGrant) and grant.locks[0].path == "src/a.rs", grant

answer = lock.sync_detailed(client=human, comity_cwd=repo, body=LockLock(paths=["src/"]))
assert answer.status_code == 409 and isinstance(answer.parsed, Error), answer
assert answer.parsed.error.code == "locked" and answer.parsed.error.hint, answer.parsed

held = locks.sync(client=human, comity_cwd=repo)
assert [one.holder for one in held.locks] == ["ann"] and held.locks[0].reason == "fixing login", held

page = log.sync(client=human, comity_cwd=repo, type_="lock_acquired")
assert [entry.action for entry in page.entries] == ["lock_acquired"], page

nobody = AuthenticatedClient(base_url=os.environ["SCENARIO_URL"], token="cmty_nobody_0123456789abcdef")
assert status.sync_detailed(client=nobody).status_code == 401
print("done")
