import type { SimGateway } from './sim-gateway.ts';
import type { Surroundings } from './surroundings.ts';
import { inProcess } from './virtual-time.ts';

/** How long a client waits for an answer before it sends its request again. */
const PATIENCE_MS = 8_000;

/** The result of a request: the response, an error, or nothing. */
export type Heard<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'error'; readonly error: Error & { code?: string } }
  | { readonly kind: 'silence' };

/** Sends a request to one of the gateways, and waits for its answer. Call it in the process of the client. */
export async function ask<T>(
  world: Surroundings & { pickGateway(place: string): SimGateway | undefined },
  place: string,
  work: (gateway: SimGateway) => Promise<T>,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Promise<Heard<T>> {
  const { time, faults } = world;
  const gateway = world.pickGateway(place);
  if (gateway === undefined) return { kind: 'silence' };
  await time.sleep(0.5 + 10 * faults.number(`${place} takes`));
  const isCut = faults.at(place, { disconnect: 0.03 }) !== undefined;
  const { promise, resolve } = Promise.withResolvers<Heard<T>>();
  const cancel = time.after(patienceMs, () => resolve({ kind: 'silence' }));
  // In the context of the client, where the response arrives unless the gateway has died before.
  const deliver = (heard: Heard<T>): void => {
    if (!gateway.process.isDead && !isCut) time.afterIn(undefined, 0.5, () => resolve(heard));
  };
  if (!gateway.process.isDead)
    time.afterIn(
      gateway.process,
      0,
      () =>
        void work(gateway).then(
          (value) => deliver({ kind: 'answer', value }),
          (error: Error) => deliver({ kind: 'error', error }),
        ),
    );
  const heard = await promise;
  cancel();
  return heard;
}

/** Repeats the request until there is an answer, or an error that says that repeating it is useless. */
export async function insist<T>(
  world: Surroundings & { pickGateway(place: string): SimGateway | undefined },
  place: string,
  work: (gateway: SimGateway) => Promise<T>,
): Promise<T | Error> {
  for (;;) {
    const heard = await ask(world, place, work);
    if (heard.kind === 'answer') return heard.value;
    if (heard.kind === 'error' && heard.error.code !== 'store_unavailable') return heard.error;
    await world.time.sleep(700);
  }
}

/** Runs a client on its own, outside of every gateway. */
export function outside(work: () => Promise<void>): void {
  inProcess(undefined, () => void work());
}
