import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bus, StreamEvent, StreamNotice } from '../../src/ports/bus/bus.ts';
import { createInProcessBus } from '../../src/ports/bus/in-process-bus.ts';
import { createPostgresBus } from '../../src/ports/bus/postgres-bus.ts';
import { onPooledPostgres } from '../support/pooled-postgres.ts';
import { type Database, databases } from '../support/stores.ts';
import { eventOf } from './notices.ts';

const createBus = ({ kind, location, pooledUrl }: Database): Bus => {
  if (kind === 'sqlite') return createInProcessBus();
  return createPostgresBus(pooledUrl === undefined ? { url: location } : { url: pooledUrl, directUrl: location });
};

describe.each([...databases, onPooledPostgres])('the bus for $title', ({ create }) => {
  let database: Database;
  let bus: Bus;
  beforeEach(async () => {
    database = await create();
    bus = createBus(database);
    await bus.start();
  });
  afterEach(async () => {
    await bus.stop();
    await database.remove();
  });

  test('subscribers of this process are notified at once, with the event, in order', () => {
    const heard: StreamNotice[] = [];
    bus.subscribe('space:1', (notice) => heard.push(notice));
    const events = [eventOf('space:1', 1), eventOf('space:1', 2), eventOf('space:2', 1), eventOf('space:1', 3)];
    bus.publish(events);
    expect(heard).toEqual(
      events
        .filter(({ stream }) => stream === 'space:1')
        .map((event) => ({ stream: 'space:1', seq: event.seq, event })),
    );
  });

  test('every subscriber is notified, also the same function twice, and each unsubscribes separately', () => {
    const heard: string[] = [];
    const twice = (): void => void heard.push('twice');
    const end = bus.subscribe('c', twice);
    bus.subscribe('c', twice);
    const endOther = bus.subscribe('c', () => heard.push('other'));
    bus.publish([eventOf('c', 1)]);
    expect(heard.splice(0)).toEqual(['twice', 'twice', 'other']);
    end();
    end();
    endOther();
    bus.publish([eventOf('c', 2)]);
    expect(heard).toEqual(['twice']);
  });

  test('a listener that throws does not affect others', () => {
    const heard: number[] = [];
    bus.subscribe('c', () => {
      throw new Error('no');
    });
    bus.subscribe('c', ({ seq }) => heard.push(seq));
    bus.publish([eventOf('c', 1), eventOf('c', 2)]);
    expect(heard).toEqual([1, 2]);
  });

  test('a listener can end another subscription during a notification, and a new subscriber gets the events that follow', () => {
    const heard: string[] = [];
    const ends: (() => void)[] = [];
    let subscribed = false;
    bus.subscribe('c', ({ seq }) => {
      heard.push(`first ${seq}`);
      for (const end of ends) end();
      if (!subscribed) bus.subscribe('c', (notice) => heard.push(`new ${notice.seq}`));
      subscribed = true;
    });
    ends.push(bus.subscribe('c', ({ seq }) => heard.push(`ended ${seq}`)));
    bus.publish([eventOf('c', 1), eventOf('c', 2)]);
    expect(heard).toEqual(['first 1', 'first 2', 'new 2']);
  });

  test('a publication never throws: before the start, after the stop, and with any content', async () => {
    const odd: StreamEvent[] = [
      { ...eventOf('c', 1), payload: undefined },
      { ...eventOf('\u0000\ud800"\'<', 2), payload: { text: '\u0000 \ud800 \u2028' } },
      eventOf('x'.repeat(10_000), 1),
    ];
    const fresh = createBus(database);
    fresh.publish(odd);
    bus.publish(odd);
    bus.publish([]);
    await bus.stop();
    bus.publish(odd);
  });
});
