import { readStream } from '../../src/domain/streams/read-stream.ts';
import { outside } from './clients.ts';
import type { Town } from './town.ts';

/** A client that follows a stream: it resumes after the last event that it read, on any gateway, whenever it is cut off. */
export function follow(town: Town, stream: string): void {
  const read = { stream, seqs: [] as number[], resets: 0 };
  town.ledger.followed.push(read);
  outside(async () => {
    while (!town.isOver()) {
      await connect(town, stream, read);
      await town.time.sleep(300);
    }
  });
}

/** Resolves when the connection has ended. */
async function connect(town: Town, stream: string, read: { seqs: number[]; resets: number }): Promise<void> {
  const gateway = town.pickGateway('follower');
  if (gateway === undefined) return;
  const { time, faults } = town;
  const cutAfterMs = 2_000 + 15_000 * faults.number('follower stays');
  const isSlow = faults.at('follower', { 'read-slowly': 0.04 }) !== undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOpen = true;
  const cut = (): void => {
    isOpen = false;
    forget();
    resolve();
  };
  const forget = town.onDeath(gateway.process, cut);
  time.afterIn(undefined, cutAfterMs, cut);
  const serve = async (): Promise<void> => {
    const reader = await readStream(gateway.services, { stream, after: read.seqs.at(-1) ?? 0 });
    const beat = setInterval(() => void reader.look().catch(() => {}), 5_000);
    while (isOpen) {
      const item = await reader.next();
      // What arrives after the connection was cut is not read.
      if (!isOpen || item === undefined || gateway.process.isDead) break;
      if (item.kind === 'reset') read.resets++;
      else read.seqs.push(item.event.seq);
      if (isSlow) await time.sleep(200 + 3_000 * faults.number('follower reads'));
    }
    clearInterval(beat);
    reader.close();
  };
  time.afterIn(gateway.process, 0, () => void serve().catch(cut));
  await promise;
}
