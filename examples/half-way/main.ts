// A tool that fails half-way and leaves no trace: what it wrote to the session and to its files is gone.
import { createSession, dispatchCall, ok, slice, tool } from '@lastcall/core';
import { memoryFilesystem } from '@lastcall/core/files';
import { z } from 'zod';
import { show } from '../show.ts';

interface SeatTaken {
  readonly type: 'SeatTaken';
  readonly seat: string;
  readonly by: string;
}

const seats = slice<Readonly<Record<string, string>>>('seats', {
  initial: {},
  on: { SeatTaken: (taken, { seat, by }: SeatTaken) => ({ ...taken, [seat]: by }) },
});

const bookSeats = tool({
  description: 'Books seats for one guest, all or none.',
  inputSchema: z.object({ guest: z.string(), seats: z.array(z.string()).min(1) }),
  effects: 'session',
  async execute({ guest, seats: wanted }, ctx) {
    // Written as anyone would write it: no clean-up code, no order to get right.
    for (const seat of wanted) {
      const holder = ctx.session.read(seats)[seat];
      if (holder !== undefined) throw new Error(`Seat ${seat} is ${holder}'s`);
      ctx.session.dispatch<SeatTaken>({ type: 'SeatTaken', seat, by: guest });
      await ctx.filesystem.writeText('bookings.log', `${seat} ${guest}\n`, { mode: 'append' });
    }
    return ok({ seats: wanted }, `Booked for ${guest}.`);
  },
});

const session = createSession({ slices: [seats], filesystem: memoryFilesystem() });
const tools = { book_seats: bookSeats };

async function call(input: string): Promise<void> {
  show(await dispatchCall({ tools, session, call: { toolName: 'book_seats', input } }));
  console.log(`  seats: ${JSON.stringify(session.read(seats))}`);
  console.log(`  bookings.log: ${JSON.stringify(await session.filesystem.readText('bookings.log').catch(() => ''))}\n`);
}

console.log('1. A call that succeeds is committed.\n');
await call('{"guest":"Ann","seats":["A1","A2"]}');

console.log('2. A call that takes A3, then finds A2 taken, fails, and A3 is free again.\n');
await call('{"guest":"Bob","seats":["A3","A2"]}');

console.log('3. Arguments that do not fit never reach the tool, and every problem is named.\n');
await call('{"guest":5,"seats":[],"vip":true}');

console.log('4. The next call starts from a clean state.\n');
await call('{"guest":"Bob","seats":["A3"]}');
