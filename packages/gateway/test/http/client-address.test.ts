import { describe, expect, test } from 'vitest';
import { addressReader } from '../../src/transport/http/client-address.ts';

const ask = (
  socket: string | undefined,
  headers: Record<string, string> = {},
  trusted = ['10.0.0.0/8', 'fd00::/8'],
): string => addressReader(trusted)(new Request('http://gateway/', { headers }), socket);

describe('[G66] the address that a request is counted under', () => {
  const forwardedFor = (text: string): Record<string, string> => ({ 'x-forwarded-for': text });
  const forwarded = (text: string): Record<string, string> => ({ forwarded: text });

  test.each<[string, string, Record<string, string>, string]>([
    ['the socket’s, without a header', '192.0.2.1', {}, '192.0.2.1'],
    ['the socket’s, if it is no trusted proxy', '192.0.2.1', forwardedFor('198.51.100.1'), '192.0.2.1'],
    ['what a trusted proxy says', '10.0.0.1', forwardedFor('198.51.100.1'), '198.51.100.1'],
    ['the right-most that is no proxy', '10.0.0.1', forwardedFor('1.2.3.4, 198.51.100.1, 10.0.0.2'), '198.51.100.1'],
    ['the left-most, if all are proxies', '10.0.0.1', forwardedFor('10.0.0.3, 10.0.0.2'), '10.0.0.3'],
    [
      'the last proxy, if it names nothing that is an address',
      '10.0.0.1',
      forwardedFor('1.2.3.4, unknown'),
      '10.0.0.1',
    ],
    ['without a port', '10.0.0.1', forwardedFor('198.51.100.1:4711'), '198.51.100.1'],
    ['that of Forwarded', '10.0.0.1', forwarded('for=1.2.3.4, For="198.51.100.1:80";proto=https'), '198.51.100.1'],
    ['IPv6 in Forwarded, by 64 bits', 'fd00::1', forwarded('for="[2001:db8:1:2:3::4]:80"'), '2001:db8:1:2::/64'],
    [
      'the proxy’s, if two headers differ',
      '10.0.0.1',
      { ...forwardedFor('1.1.1.1'), ...forwarded('for=2.2.2.2') },
      '10.0.0.1',
    ],
    ['what both headers say', '10.0.0.1', { ...forwardedFor('1.1.1.1'), ...forwarded('for=1.1.1.1') }, '1.1.1.1'],
    ['IPv4 inside IPv6 as IPv4', '::ffff:10.0.0.1', forwardedFor('::ffff:198.51.100.1'), '198.51.100.1'],
    ['no notation that no proxy writes', '10.0.0.1', forwardedFor('0x7f.1'), '10.0.0.1'],
    ['a link-local address without its zone', 'fe80::1%eth0', {}, 'fe80:0:0:0::/64'],
  ])('[G66] is %s', (_what, socket, headers, expected) => {
    expect(ask(socket, headers)).toBe(expected);
  });

  test('[G66] without trusted proxies no header counts, and in memory there is no address', () => {
    expect(ask('10.0.0.1', forwardedFor('1.2.3.4'), [])).toBe('10.0.0.1');
    expect(ask(undefined, forwardedFor('1.2.3.4'))).toBe('');
  });
});
