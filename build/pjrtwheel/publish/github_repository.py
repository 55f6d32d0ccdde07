# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A repository of GitHub: how it is opened, its releases, and what the errors of the API mean.

Address and token are in the variables that GitHub sets for its own jobs: `GITHUB_REPOSITORY`, `GITHUB_API_URL`,
`GITHUB_SERVER_URL`, `GITHUB_TOKEN` or `GH_TOKEN`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from github import Auth, Github, GithubException
from github.GitRelease import GitRelease
from github.Repository import Repository

from pjrtwheel.errors import PublishError, UsageError, printable
from pjrtwheel.publish.answers import Advice, PassingError, explained
from pjrtwheel.publish.destinations import Destination

REPOSITORY_SETTING = "github-repository"
TIMEOUT_S = 120
ADVICE = Advice("check the token in GITHUB_TOKEN")

# Status → what it means, and what to do.
_MEANINGS = {
    401: ("the token is not valid", "give a valid one in GITHUB_TOKEN"),
    403: ("the token may not do that, or asked too often", "give it the permission contents: write, or wait"),
    404: ("there is no such repository, or the token may not see it", "check its name and the token"),
    422: ("GitHub does not accept it", "look at the release's page; delete a draft that is not this release"),
}


@dataclass(frozen=True, slots=True)
class GithubRepository:
    """A repository, of which nothing was asked yet.

    Attributes:
        api: Its calls.
        address: Address of its page.
        token: Who asks; empty for anybody.
    """

    api: Repository = field(repr=False)
    address: str
    token: str = field(default="", repr=False)

    def list_releases(self) -> list[GitRelease]:
        """Return all releases, of which drafts are shown to the repository's owners only.

        Raises:
            PublishError: GitHub cannot be asked.
        """
        with explain_api(f"cannot list the releases of {self.address}"):
            return list(self.api.get_releases())

    def find_release(self, tag: str) -> GitRelease | None:
        """Return the release of a tag, which may be a draft: these are found by listing alone.

        Raises:
            PublishError: GitHub cannot be asked, or has several of the tag.
        """
        found = [release for release in self.list_releases() if release.tag_name == tag]
        if len(found) > 1:
            raise PublishError(
                f"{self.address} has {len(found)} releases of {tag}", remedy="delete the drafts among them"
            )
        return found[0] if found else None

    def find_commit(self, tag: str) -> str:
        """Return the commit that a tag is at, annotated or not; empty if there is no such tag.

        Raises:
            PublishError: GitHub cannot be asked.
        """
        with explain_api(f"cannot read the tags of {self.address}"):
            found = [ref for ref in self.api.get_git_matching_refs(f"tags/{tag}") if ref.ref == f"refs/tags/{tag}"]
            if not found:
                return ""
            at = found[0].object
            while at.type == "tag":
                at = self.api.get_git_tag(at.sha).object
            return at.sha

    def make_draft(self, tag: str, commit: str) -> GitRelease:
        """Make the draft of a release, whose tag will be made at a commit if it is not there.

        Raises:
            PublishError: GitHub refused, or cannot be asked.
        """
        with explain_api(f"{self.address} did not make a draft of {tag}"):
            return self.api.create_git_release(tag, tag, f"Wheels of {tag}.", draft=True, target_commitish=commit)


def open_repository(
    destination: Destination, settings: Mapping[str, str], environ: Mapping[str, str]
) -> GithubRepository:
    """Return the repository of a destination; nothing is asked yet.

    Raises:
        UsageError: That is no name of a repository.
    """
    name = settings[REPOSITORY_SETTING]
    if name.count("/") != 1:
        raise UsageError(f"the repository of {destination.name} is {name!r}", remedy="expected OWNER/NAME")
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN") or ""
    # An upload that is repeated by the library would meet its own leftovers, so repeating is done here.
    client = Github(
        base_url=environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/"),
        auth=Auth.Token(token) if token else None,
        retry=None,
        timeout=TIMEOUT_S,
        per_page=100,
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,  # opening a repository asks nothing
    )
    server = environ.get("GITHUB_SERVER_URL", "https://github.com").rstrip("/")
    return GithubRepository(client.get_repo(name), f"{server}/{name}", token)


@contextmanager
def explain_api(what: str) -> Iterator[None]:
    """Turn what the API answers, and errors of the network, into a `PublishError` that begins with `what`.

    Raises:
        PassingError: The server or the network failed, which may have passed when the call is repeated.
        PublishError: GitHub refused.
    """
    try:
        with explained(what, ADVICE):
            yield
    except GithubException as error:
        said = printable(str(error.message or ""))
        answered = f"GitHub answered {error.status}{f': {said}' if said else ''}"
        if error.status >= 500:
            raise PassingError(what, cause=answered, remedy="wait until GitHub works again") from error
        meaning, remedy = _MEANINGS.get(error.status, ("", ""))
        raise PublishError(what, cause=f"{answered}; {meaning}".removesuffix("; "), remedy=remedy) from error
