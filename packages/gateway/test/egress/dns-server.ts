import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns';
import { once } from 'node:events';
import { isIPv6, type LookupFunction } from 'node:net';

/** A DNS server on this machine whose answer to each question is decided by a function. */
export interface DnsServer extends AsyncDisposable {
  /** Resolves with this server, without a cache. */
  readonly lookup: LookupFunction;
  /** The names that were asked for, in order. */
  readonly questions: readonly string[];
}

/** `addressesOf` is called once per lookup. */
export async function startDnsServer(addressesOf: (name: string) => readonly string[]): Promise<DnsServer> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const name = nameIn(query);
    questions.push(name);
    socket.send(answerTo(query, addressesOf(name)), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout: 5_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    questions,
    lookup(name, _options, done) {
      resolver.resolveAny(name, (error, records) => {
        const found = (records ?? []).flatMap((one) =>
          'address' in one ? [{ address: one.address, family: isIPv6(one.address) ? 6 : 4 }] : [],
        );
        done(error, found);
      });
    },
    async [Symbol.asyncDispose]() {
      resolver.cancel();
      socket.close();
      await once(socket, 'close');
    },
  };
}

const HEADER_BYTES = 12;

function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = HEADER_BYTES; query[at] !== 0; at += (query[at] ?? 0) + 1)
    labels.push(query.toString('ascii', at + 1, at + 1 + (query[at] ?? 0)));
  return labels.join('.');
}

function answerTo(query: Buffer, addresses: readonly string[]): Buffer {
  const questionEnd = query.indexOf(0, HEADER_BYTES) + 5;
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, questionEnd), ...addresses.map(record)]);
}

/** An A record for the requested name with a TTL of 0. */
function record(address: string): Buffer {
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
  return Buffer.concat([head, Buffer.from(address.split('.').map(Number))]);
}
