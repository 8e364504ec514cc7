"""What a transport with its own connections must do about TLS: refuse what it must, and say what is wrong with it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

import client_certificates as certificates
import pytest
from contract_base import Contract, cases, ok
from scripted_server import STREAM, Peer, ScriptedServer, chunk

from kubewright.client.transport import ConnectTimeout, Limits, TLSError


class TlsContract(Contract):
    def test_requests_and_streams_go_over_tls(self) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send_slowly(STREAM, chunk(b"1\n"), chunk(b"x" * 100_000 + b"\n"), b"0\r\n\r\n")
            await peer.hung_up()

        async def main() -> None:
            tls = certificates.server_context(certificates.good())
            async with ScriptedServer(ok, script, tls=tls) as server:
                transport = self.make(server.url, tls=certificates.client_context())
                for _ in range(3):
                    assert (await transport.request("POST", "/", body=b"x" * 300_000)).body == b"ok"
                lines: list[bytes] = []
                await transport.stream("GET", "/", on_line=lines.append)
                assert [len(line) for line in lines] == [1, 100_000]
                assert len(server.peers) == 2
                await transport.close()

        self.run(main())

    def test_a_second_connection_goes_on_with_the_session_of_the_first(self) -> None:
        async def script(peer: Peer) -> None:
            await peer.request()
            await peer.send_slowly(STREAM, chunk(b"1\n"), b"0\r\n\r\n")
            await peer.hung_up()

        async def main() -> None:
            tls = certificates.server_context(certificates.good(), client_authority=certificates.authority())
            async with ScriptedServer(ok, script, tls=tls) as server:
                transport = self.make(server.url, tls=certificates.client_context(client=certificates.client()))
                await transport.request("GET", "/")
                await transport.stream("GET", "/", on_line=lambda line: None)
                sessions = [peer.writer.get_extra_info("ssl_object") for peer in server.peers]
                assert [session.session_reused for session in sessions] == [False, True]
                assert sessions[1].getpeercert()["subject"] == ((("commonName", "alice"),),)
                await transport.close()

        self.run(main())

    @pytest.mark.parametrize(
        ("pair", "text"),
        cases(
            expired=(
                certificates.expired,
                f"the server's certificate has expired: it was valid until {certificates.PAST:%Y-%m-%d %H:%M:%S} UTC; ",
            ),
            not_yet_valid=(
                certificates.of_the_future,
                f"not valid yet: it is valid from {certificates.FUTURE:%Y-%m-%d %H:%M:%S} UTC; set this",
            ),
            other_host=(
                certificates.for_other_hosts,
                "host name mismatch: the server's certificate is for api.example, 10.0.0.1, not for 127.0.0.1; ",
            ),
            unknown_authority=(
                certificates.by_unknown_authority,
                "is signed by an authority (CN=somebody else's authority) that is not trusted; set certificate-auth",
            ),
        ),
    )
    def test_a_certificate_that_cannot_be_trusted_is_refused_with_the_reason_and_the_cure(
        self, pair: Callable[[], certificates.Pair], text: str
    ) -> None:
        async def main() -> None:
            async with ScriptedServer(ok, tls=certificates.server_context(pair())) as server:
                transport = self.make(server.url, tls=certificates.client_context())
                for _ in range(2):
                    with pytest.raises(TLSError) as caught:
                        await transport.request("GET", "/")
                    assert str(caught.value).startswith(f"127.0.0.1:{server.port}: ")
                    assert text in str(caught.value)
                    assert "\n" not in str(caught.value)
                    assert caught.value.fault == "server"
                assert not server.requests
                await transport.close()

        self.run(main())

    def test_the_system_authorities_are_trusted_by_default_and_no_others(self) -> None:
        async def main() -> None:
            async with ScriptedServer(ok, tls=certificates.server_context(certificates.good())) as server:
                transport = self.make(server.url)
                with pytest.raises(TLSError, match="not trusted"):
                    await transport.request("GET", "/")
                await transport.close()

        self.run(main())

    def test_a_client_certificate_is_presented(self) -> None:
        async def main() -> None:
            tls = certificates.server_context(certificates.good(), client_authority=certificates.authority())
            async with ScriptedServer(ok, tls=tls) as server:
                transport = self.make(server.url, tls=certificates.client_context(client=certificates.client()))
                assert (await transport.request("GET", "/")).status == 200
                shown = server.peers[0].writer.get_extra_info("ssl_object").getpeercert()
                assert shown["subject"] == ((("commonName", "alice"),),)
                await transport.close()

        self.run(main())

    @pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
    @pytest.mark.parametrize(
        ("pair", "text"),
        cases(
            unknown_authority=(certificates.stranger, "refused the client certificate: it does not know the authority"),
            expired=(certificates.client_expired, "the server refused the client certificate: it has expired; renew"),
            none=(None, "the server "),
        ),
    )
    def test_a_server_that_refuses_our_certificate_is_said_to_do_so(
        self, version: ssl.TLSVersion, pair: Callable[[], certificates.Pair] | None, text: str
    ) -> None:
        tls = certificates.server_context(certificates.good(), client_authority=certificates.authority())

        async def refuse(peer: Peer) -> None:
            # By hand, as asyncio's server hangs up without sending the alert.
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            session = tls.wrap_bio(incoming, outgoing, server_side=True)
            refused = False
            while not refused:
                try:
                    session.do_handshake()
                except ssl.SSLWantReadError:
                    pass
                except ssl.SSLError:
                    refused = True
                peer.send(outgoing.read())
                if not refused:
                    incoming.write(await peer.reader.read(65536))
            await peer.hung_up()

        async def main() -> None:
            async with ScriptedServer(refuse) as server:
                context = certificates.client_context(client=pair and pair())
                context.maximum_version = version
                transport = self.make(server.url.replace("http:", "https:"), tls=context)
                with pytest.raises(TLSError) as caught:
                    await transport.request("GET", "/")
                assert text in str(caught.value)
                assert "\n" not in str(caught.value)
                if pair is not None or version == ssl.TLSVersion.TLSv1_3:
                    assert caught.value.fault == "client"
                await transport.close()

        self.run(main())

    def test_a_server_without_tls_is_said_to_have_none(self) -> None:
        async def plain(peer: Peer) -> None:
            await peer.reader.read(10)
            peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await peer.hung_up()

        async def main() -> None:
            async with ScriptedServer(plain) as server:
                url = server.url.replace("http:", "https:")
                transport = self.make(url, tls=certificates.client_context())
                with pytest.raises(TLSError, match="does not speak TLS; use http://"):
                    await transport.request("GET", "/")
                await transport.close()

        self.run(main())

    def test_a_server_that_hangs_up_in_the_handshake_is_said_to(self) -> None:
        async def rude(peer: Peer) -> None:
            await peer.reader.read(10)

        async def main() -> None:
            async with ScriptedServer(rude) as server:
                url = server.url.replace("http:", "https:")
                transport = self.make(url, tls=certificates.client_context())
                with pytest.raises(TLSError, match=r"127.0.0.1:\d+: the server hung up during the TLS handshake"):
                    await transport.request("GET", "/")
                await transport.close()

        self.run(main())

    def test_a_handshake_that_is_not_answered_has_a_deadline(self) -> None:
        async def mute(peer: Peer) -> None:
            await peer.hung_up()

        async def main() -> None:
            async with ScriptedServer(mute) as server:
                url = server.url.replace("http:", "https:")
                limits = Limits(connect_seconds=0.1)
                transport = self.make(url, tls=certificates.client_context(), limits=limits)
                with pytest.raises(ConnectTimeout, match=r"connected, but no TLS handshake within 0\.1 s"):
                    await transport.request("GET", "/")
                await server.peers[0].closed.wait()
                await transport.close()

        self.run(main())

    def test_many_requests_at_a_time_go_over_tls(self) -> None:
        async def main() -> None:
            tls = certificates.server_context(certificates.good())
            async with ScriptedServer(ok, tls=tls) as server:
                transport = self.make(server.url, tls=certificates.client_context())
                answers = await asyncio.gather(*(transport.request("GET", "/") for _ in range(200)))
                assert {each.body for each in answers} == {b"ok"}
                assert len(server.peers) <= 16
                await transport.close()

        self.run(main())
