import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEgress } from '../../src/ports/egress/egress.ts';
import { isNeverSent } from '../../src/ports/egress/never-sent.ts';
import { startDnsServer } from './dns-server.ts';
import { AUTHORITY, CERTIFICATE, KEY } from './test-certificate.ts';

const OPENED = '127.0.0.2';
const INNER = '127.0.0.3';

const before = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...before, AUTHORITY]));
afterAll(() => setDefaultCACertificates([...before]));

interface Seen {
  readonly address: string;
  readonly serverName: string | false;
  readonly headers: IncomingHttpHeaders;
}

/** A server with the certificate of `secure.test`, on all addresses of this machine. */
async function startSecureSite(): Promise<{ port: number; seen: Seen[]; names: string[] } & AsyncDisposable> {
  const seen: Seen[] = [];
  const names: string[] = [];
  const server = createServer(
    {
      cert: CERTIFICATE,
      key: KEY,
      SNICallback(name, done) {
        names.push(name);
        done(null);
      },
    },
    ({ socket, headers }, response) => {
      const { servername = false, localAddress = '' } = socket as TLSSocket & { servername?: string | false };
      seen.push({ address: localAddress, serverName: servername, headers });
      response.setHeader('connection', 'close').end('hello');
    },
  );
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    names,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const failure = (attempt: Promise<unknown>): Promise<Error & { code?: string }> =>
  attempt.then(
    () => Promise.reject(new Error('It was answered.')),
    (error) => error,
  );

test('[X8] over TLS the real address is checked for each connection, and the server gets the requested name', async () => {
  await using site = await startSecureSite();
  let count = 0;
  await using dns = await startDnsServer(() => [count++ % 2 === 0 ? OPENED : INNER]);
  const egress = createEgress({ allow: [`${OPENED}/32:${site.port}`], lookup: dns.lookup });
  const url = `https://secure.test:${site.port}/path`;
  for (let round = 0; round < 5; round++) {
    const answer = await egress.request({ url });
    expect(answer.status).toBe(200);
    await answer.body.resume().toArray();
    expect(await failure(egress.request({ url }))).toMatchObject({ code: 'egress_refused' });
  }
  await egress.close();
  expect(dns.questions).toHaveLength(10);
  expect(site.seen).toHaveLength(5);
  expect(new Set(site.seen.map(({ address }) => address))).toEqual(new Set([OPENED]));
  expect(new Set(site.seen.map(({ serverName }) => serverName))).toEqual(new Set(['secure.test']));
  expect(new Set(site.seen.map(({ headers }) => headers.host))).toEqual(new Set([`secure.test:${site.port}`]));
  // Nothing was sent to the internal address, not even the name.
  expect(site.names).toHaveLength(5);
});

test('[X8] an allowed name with a certificate for another name is refused before the request is sent', async () => {
  await using site = await startSecureSite();
  await using dns = await startDnsServer(() => [OPENED]);
  const egress = createEgress({ allow: [`other.test:${site.port}`], lookup: dns.lookup });
  const headers = { authorization: 'Bearer a-secret' };
  const error = await failure(egress.request({ url: `https://other.test:${site.port}/`, headers }));
  await egress.close();
  expect(error.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  expect([site.names, site.seen]).toEqual([['other.test'], []]);
});

test('[X8] an untrusted certificate is refused before the request is sent', async () => {
  await using site = await startSecureSite();
  await using dns = await startDnsServer(() => [OPENED]);
  const egress = createEgress({ allow: [`secure.test:${site.port}`], lookup: dns.lookup });
  setDefaultCACertificates([...before]);
  const error = await failure(egress.request({ url: `https://secure.test:${site.port}/` }));
  setDefaultCACertificates([...before, AUTHORITY]);
  await egress.close();
  expect(error.code).toMatch(/^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/);
  expect(isNeverSent(error)).toBe(true);
  expect(site.seen).toEqual([]);
});
