import { post, type Watcher } from './client.ts';
import type { Room } from './filling.ts';
import type { BenchGateway } from './start-gateway.ts';

/** Milliseconds from a message to an idle agent until others see it awake. Resolves when it sleeps again. */
export async function wakeTime(gateway: BenchGateway, room: Room, watcher: Watcher): Promise<number> {
  const rested = watcher.next('agent.inactive');
  const awake = watcher.next('agent.active');
  const postedAt = performance.now();
  await post(gateway, room, 'Are you there?');
  const wokenAt = await awake;
  await rested;
  return wokenAt - postedAt;
}
