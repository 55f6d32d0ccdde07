# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An index that speaks the upload API: twine sends, the simple repository API (PEP 503, PEP 691) says what is there.

Credentials for uploads are twine's affair: `TWINE_USERNAME` and `TWINE_PASSWORD`, `.pypirc`, keyring. Those for reading
are in the address or in `.netrc`. None of them is in an address that is printed, and none goes to another host.
"""

import argparse
import contextlib
import functools
import io
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pypi_simple import NoSuchProjectError, PyPISimple, UnsupportedContentTypeError, UnsupportedRepoVersionError
from twine.package import PackageFile
from twine.repository import Repository
from twine.settings import Settings

from pjrtwheel.errors import PublishError, UsageError
from pjrtwheel.fetch.listing import CHUNK, DownloadSession, IndexFile, describe_package, save_chunks
from pjrtwheel.publish.destinations import Destination, variable_of
from pjrtwheel.publish.servers import Credentials, explain_answer, explained, same_host, split_credentials
from pjrtwheel.wheel.names import ATTESTATION_SUFFIX

SILENCE_S = 120.0  # without a byte, after which a server is given up


@dataclass(frozen=True, slots=True)
class UploadIndex:
    """A place of this kind.

    Attributes:
        name: Name of the destination, for messages.
        address: Address of the simple repository API, without credentials.
        reader: Who reads.
        upload_url: Where files are sent to, without credentials; empty for a section of `.pypirc`, or where nothing is.
        uploader: Who uploads; twine finds out if the address does not state it.
        section: Section of `.pypirc`.
        attestations: Whether an upload carries the attestation that lies next to a wheel (PEP 740).
    """

    name: str
    address: str
    reader: Credentials | None = field(default=None, repr=False)
    upload_url: str = ""
    uploader: Credentials | None = field(default=None, repr=False)
    section: str = ""
    attestations: bool = False

    def list_files(self, projects: Collection[str]) -> Mapping[str, IndexFile]:
        """Return what the index lists of some projects; it has no documents."""
        return {file.filename: file for project in projects for file in self._read_page(project)}

    def check_uploads(self, commit: str, *, credentials: bool) -> None:  # noqa: ARG002
        """Read twine's configuration; only the address, without credentials."""
        with explained(f"{self.name} cannot be uploaded to"):
            if credentials:
                self._twine().close()
            else:
                self._read_settings()

    def begin(self, commit: str) -> None:
        """Do nothing: files are sent to an index one by one."""

    def upload(self, file: Path, sha256: str) -> None:
        """Send one file with twine; what was refused or cut off may still be there, and then all is well.

        twine itself repeats what a server that failed answers.
        """
        try:
            self._send(file, sha256)
        except PublishError:
            project = PackageFile.from_filename(str(file), None).safe_name
            with contextlib.suppress(PublishError):
                found = self.list_files([project]).get(file.name)
                if found is not None and found.sha256 == sha256:
                    return
            raise

    def download(self, file: IndexFile, target: Path) -> None:
        """Fetch a file back."""
        with (
            explained(f"cannot download {file.filename} from {self.name}", target),
            DownloadSession() as session,
            session.get(file.url, auth=self._find_login(file.url), timeout=SILENCE_S, stream=True) as answer,
        ):
            answer.raise_for_status()
            save_chunks(answer.iter_content(CHUNK), target, file.size)

    def finish(self) -> None:
        """Do nothing: an index shows a file as soon as it has it."""

    def write_index(self) -> None:
        """Do nothing: it writes its pages itself."""

    def _read_page(self, project: str) -> list[IndexFile]:
        with PyPISimple(self.address, auth=self._find_login(self.address), session=DownloadSession()) as client:
            what = f"cannot read what {self.name} has of {project}"
            try:
                with explained(what):
                    packages = client.get_project_page(project, timeout=SILENCE_S).packages
            except NoSuchProjectError:
                return []
            except (UnsupportedContentTypeError, UnsupportedRepoVersionError, ValueError) as error:
                cause = "it answers with something else than the simple repository API"
                remedy = "check the address: it usually ends in /simple/"
                raise PublishError(what, cause=cause, remedy=remedy) from error
        return list(map(describe_package, packages))

    def _send(self, file: Path, sha256: str) -> None:
        what = f"{self.name} did not take {file.name}"
        with explained(what), contextlib.closing(self._twine()) as twine:
            package = PackageFile.from_filename(str(file), None)
            if package.sha2_digest != sha256:
                raise PublishError(f"{file.name} changed: its sha256 is {package.sha2_digest}")
            attestation = file.with_name(f"{file.name}{ATTESTATION_SUFFIX}")
            if self.attestations and attestation.is_file():
                package.add_attestations([str(attestation)])
            with contextlib.redirect_stdout(io.StringIO()):  # twine's own line about it
                answer = twine.upload(package)
        if not answer.ok or answer.is_redirect:
            raise explain_answer(what, answer)

    def _twine(self) -> Repository:
        """Return twine's side of an upload; without any other credentials it asks for a token (trusted publishing)."""
        repository = self._read_settings().create_repository()
        # twine would wait without end for a server that stays silent.
        repository.session.request = functools.partial(repository.session.request, timeout=SILENCE_S)  # type: ignore[method-assign]
        return repository

    def _read_settings(self) -> Settings:
        """Return twine's own environment variables and configuration, as far as ours do not say otherwise."""
        if not self.upload_url and not self.section:
            raise UsageError(
                f"where files for {self.name} are uploaded to is not known",
                remedy=f"give it with --upload-url or --repository, or in {variable_of(self.name, 'upload-url')}",
            )
        parser = argparse.ArgumentParser()
        Settings.register_argparse_arguments(parser)
        args = parser.parse_args(["--non-interactive", "--disable-progress-bar"])
        args.repository, args.repository_url = self.section, self.upload_url or None  # whatever the environment says
        # A variable that is empty, as an unset secret makes it, is none: twine would take it for an empty password.
        args.username, args.password = args.username or None, args.password or None
        if self.uploader:
            args.username, args.password = self.uploader
        try:
            settings = Settings.from_argparse(args)
        except KeyError as error:  # twine expects it without looking
            raise PublishError(f"the section {self.section!r} of .pypirc has no {error}") from error
        logging.getLogger("twine").setLevel(logging.ERROR)  # what it warns of becomes an error of ours
        return settings

    def _find_login(self, url: str) -> Credentials | None:
        """Return the credentials for an address: an index may link to files on other hosts, which get none."""
        return self.reader if same_host(url, self.address) else None


def open_index(destination: Destination, settings: Mapping[str, str]) -> UploadIndex:
    """Return the place that settings name; a stage that is read from needs no address for uploads."""
    address, reader = split_credentials(settings["index-url"])
    upload_url, uploader = split_credentials(settings.get("upload-url", ""))
    section, attestations = settings.get("repository", ""), destination.attestations
    return UploadIndex(destination.name, address, reader, upload_url, uploader, section, attestations)
