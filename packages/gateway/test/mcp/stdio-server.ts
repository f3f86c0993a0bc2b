import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type Message, MisbehavingServer } from './misbehaving-server.ts';

/** The misbehaving server as a process: its arguments are the files for its log and its state. */
const [log = '', state = ''] = process.argv.slice(2);
const server = new MisbehavingServer({ log, state });
const { START_AFTER_MS } = process.env;
// Delays the start, like a program that has to be installed first.
if (START_AFTER_MS !== undefined) await setTimeout(Number(START_AFTER_MS));
const send = (message: object): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);
for await (const line of createInterface({ input: process.stdin }))
  void server.handle(JSON.parse(line) as Message, send);
