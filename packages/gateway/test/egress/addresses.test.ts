import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import { parseEgressRule } from '../../src/config/egress-rule.ts';
import { createEgress } from '../../src/ports/egress/egress.ts';
import { guardedAgent } from '../../src/ports/egress/guarded-agent.ts';
import { vettedUrl } from '../../src/ports/egress/vetted-url.ts';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.215.14'],
  'loopback.test': ['127.0.0.1'],
  'mixed.test': ['93.184.215.14', '10.0.0.1'],
  'mixed6.test': ['2606:4700::1111', '::1'],
  'internal.test': ['10.1.2.3'],
  'mapped.test': ['::ffff:169.254.169.254'],
  'nothing.test': [],
  'metadata.google.internal': ['169.254.169.254'],
  localhost: ['127.0.0.1', '::1'],
  '127.0.0.1.public.test': ['93.184.215.14'],
};

const lookup: LookupFunction = (name, _options, done) => {
  const addresses = NAMES[name.replace(/\.$/, '')];
  if (addresses === undefined) done(Object.assign(new Error(`no ${name}`), { code: 'ENOTFOUND' }), '');
  else
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
};

const allow = ['internal.test:8080'];
const egress = createEgress({ allow, lookup });

/** Stops before a packet would be sent: a test must not contact servers of others. */
const dial: typeof buildConnector = (options) => (target, done) => {
  const dialled = (): void => done(Object.assign(new Error('dialled'), { code: 'DIALLED' }), null);
  const name = target.hostname.replace(/^\[|\]$/g, '');
  if (isIP(name) !== 0) return dialled();
  const { lookup: resolve } = options as { lookup: LookupFunction };
  resolve(name, { all: true }, (error) => (error === null ? dialled() : done(error, null)));
};
const rules = allow.flatMap((text) => parseEgressRule(text) ?? []);
const { dispatcher } = guardedAgent(() => rules, lookup, dial);
afterAll(() => Promise.all([egress.close(), dispatcher.destroy()]));

async function verdict(url: string): Promise<string> {
  try {
    const { origin } = vettedUrl(url);
    await dispatcher.request({ origin, path: '/', method: 'GET' });
    return 'answered';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

describe('the egress guard', { concurrent: true }, () => {
  test.each([
    // Loopback, in every notation that a URL takes.
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
    ...[
      '127.0.0.1.',
      '127.255.255.254',
      '127.0.0.1:8080',
      '１２７.０.０.１',
      '127。0。0。1',
      '%31%32%37.0.0.1',
      '①②⑦.0.0.1',
    ],
    // "This network", private, carrier NAT, link-local, metadata.
    ...[
      '0',
      '0.0.0.0',
      '0.1.2.3',
      '10.0.0.1',
      '10.255.255.255',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1',
      '100.64.0.1',
    ],
    ...[
      '100.100.100.200',
      '100.127.255.255',
      '169.254.169.254',
      '2852039166',
      '169.254.0.23',
      '192.0.0.192',
      '168.63.129.16',
    ],
    ...['0xa83f8110', '161.26.0.10', '166.9.8.7'],
    // Documentation, benchmarks, relays, multicast, reserved, broadcast.
    ...[
      '192.0.2.1',
      '198.51.100.1',
      '203.0.113.1',
      '198.18.0.1',
      '192.88.99.1',
      '224.0.0.1',
      '239.255.255.250',
      '240.0.0.1',
    ],
    '255.255.255.255',
    // IPv6: loopback, any, mapped, compatible, translated, tunnelled, local, multicast, documentation, unassigned.
    ...[
      '[::1]',
      '[::]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::ffff:0:7f00:1]',
      '[::127.0.0.1]',
    ],
    ...[
      '[::7f00:1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b::8.8.8.8]',
      '[64:ff9b:1::7f00:1]',
      '[2002:7f00:1::]',
      '[2002:808:808::1]',
    ],
    ...[
      '[2001::1]',
      '[2001:0:7f00:1::]',
      '[fe80::1]',
      '[febf::1]',
      '[fec0::1]',
      '[fc00::1]',
      '[fd00:ec2::254]',
      '[ff02::1]',
    ],
    ...['[2001:db8::1]', '[3fff::1]', '[100::1]', '[4000::1]', '[5f00::1]', '[8000::1]', '[fe80::1%25eth0]'],
  ])('[X8] http://%s is refused', async (host) => {
    expect(await verdict(`http://${host}/`)).toBe('egress_refused');
    expect(await verdict(`https://${host}/`)).toBe('egress_refused');
  });

  test.each([
    ...[
      'http://loopback.test',
      'http://localhost',
      'http://localhost.',
      'http://LOCALHOST',
      'http://metadata.google.internal',
    ],
    ...['http://mixed.test', 'http://mixed6.test', 'http://mapped.test', 'http://nothing.test'],
    ...['http://internal.test', 'http://internal.test:8081', 'https://internal.test', 'http://10.1.2.3:8080'],
    ...['http://public.test@127.0.0.1', 'http://127.0.0.1#@public.test', 'http://127.0.0.1\\@public.test'],
    ...[
      'http://user:pass@public.test',
      'http://user@public.test',
      'http://:pass@public.test',
      'http:127.0.0.1',
      'http:/127.0.0.1',
    ],
    ...[
      'http://127.0.0.1\n',
      'http://\t127.0.0.1',
      'http://public.test%00.evil',
      'http://public.test:65536',
      'http://',
    ],
    ...[
      '//public.test',
      'file:///etc/passwd',
      'data:,x',
      'ftp://public.test',
      'unix:/run/x.sock',
      'gopher://public.test',
    ],
    ...['ws://public.test', 'javascript:1', 'blob:http://public.test/x', 'about:blank', 'public.test', ''],
  ])('[X8] %j is refused', async (url) => {
    expect(await verdict(url)).toBe('egress_refused');
  });

  test.each([
    ...['1.1.1.1', '172.32.0.1', '172.15.255.255', '100.128.0.1', '9.255.255.255', '192.169.0.1', '168.63.129.17'],
    ...['[::ffff:8.8.8.8]', '[2606:4700::1111]', '[2a00:1450::1]', 'public.test', 'public.test.', 'PUBLIC.test:8443'],
    ...[
      '127.0.0.1.public.test',
      'public.test\\@127.0.0.1',
      'public.test#@127.0.0.1',
      'internal.test:8080',
      'internal.test.:8080',
    ],
  ])('[X8] http://%s is allowed', async (host) => {
    expect(await verdict(`http://${host}`)).toBe('DIALLED');
  });

  test('a refusal names the host, and nothing else of the URL', async () => {
    const error = await egress.request({ url: 'http://127.0.0.1/path?key=sesame' }).catch((thrown: unknown) => thrown);
    expect(String(error)).toBe('EgressRefused: The connection to 127.0.0.1 is refused: loopback.');
  });

  test('a Host header that names another site is refused', async () => {
    await expect(egress.request({ url: 'http://public.test', headers: { HOST: 'internal.test' } })).rejects.toThrow(
      'a Host header is given',
    );
  });
});
