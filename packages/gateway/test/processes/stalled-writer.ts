import type { Client } from 'pg';
import { doDuties } from './answering.ts';
import { type Crew, openCrew } from './crew.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { say } from './site.ts';
import { waitingFor } from './waiting-connection.ts';

export const LEASE_MS = 1_000;

/** Two gateways, one of which is frozen inside a transaction that waits for the spaces' rows, which `blocker` holds. */
export interface StalledWriter extends AsyncDisposable {
  readonly crew: Crew;
  readonly blocker: Client;
  readonly staller: GatewayProcess;
}

export async function stallWhileWriting(): Promise<StalledWriter> {
  const asked = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const crew = await openCrew({
    kind: 'postgres',
    leaseMs: LEASE_MS,
    async decide(request) {
      asked.resolve();
      await locked.promise;
      return doDuties(request);
    },
  });
  await say(crew.first.url, 'North', 'Anna: answer m1');
  await asked.promise;
  const blocker = await crew.connect();
  await blocker.query('begin');
  await blocker.query('select id from spaces for update');
  locked.resolve();
  // Its message waits for the space: the transaction that sends it holds the thread's row for share.
  const staller = crew.named(await waitingFor(blocker, 'spaces'));
  staller.send('SIGSTOP');
  return { crew, blocker, staller, [Symbol.asyncDispose]: () => crew[Symbol.asyncDispose]() };
}
