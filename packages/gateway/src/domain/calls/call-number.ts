import { newId } from '../new-id.ts';
import { nameInWords } from '../plain-words.ts';

/*
 * Calls have short names for models: the first call of run 7 is `call 7`, the second `call 7.2`. A run has a number in its thread
 * that is never used again, so the name of a call is unique in its thread and never changes.
 *
 * The id of a call contains both numbers: it is a UUID of version 8, whose last four bytes hold the number of the run (3) and the
 * number of the call in it (1). The rest is as in version 7. So no table maps names to ids, and a text that names a call reads the
 * same in every request. Everything but models uses the id.
 */

/** The ids of the calls of a run. `known`: the ids of its calls so far, if another worker continues it. */
export function callIds(run: number, known: Iterable<string> = []): () => string {
  let last = 0;
  for (const id of known) {
    const number = callNumber(id);
    if (number?.run === run) last = Math.max(last, number.call);
  }
  return () => {
    last++;
    // A call beyond what fits has a plain id, and is named by it.
    return isInRange(run, MAX_RUN) && isInRange(last, MAX_CALL) ? withNumber(newId(), { run, call: last }) : newId();
  };
}

/** Another id that models know by the same name, for the call of another thread. */
export function renumbered(callId: string): string {
  const number = callNumber(callId);
  return number === undefined ? newId() : withNumber(newId(), number);
}

export interface CallNumber {
  readonly run: number;
  /** Counts from 1. */
  readonly call: number;
}

const MAX_RUN = 0xffffff;
const MAX_CALL = 0xff;

function isInRange(value: number, max: number): boolean {
  return Number.isInteger(value) && value > 0 && value <= max;
}

function withNumber(id: string, { run, call }: CallNumber): string {
  const numbers = `${run.toString(16).padStart(6, '0')}${call.toString(16).padStart(2, '0')}`;
  return `${id.slice(0, 14)}8${id.slice(15, -numbers.length)}${numbers}`;
}

/** Undefined for an id that contains no number: of an older version, or of a provider. */
export function callNumber(callId: string): CallNumber | undefined {
  const [, run = '', call = ''] = NUMBERED.exec(callId) ?? [];
  const number = { run: Number.parseInt(run, 16), call: Number.parseInt(call, 16) };
  return number.run > 0 && number.call > 0 ? number : undefined;
}

const NUMBERED = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{4}([0-9a-f]{6})([0-9a-f]{2})$/;

/** `call 7`, or `call 7.2`. A call without a number is named by its id. */
export function shortCall(callId: string): string {
  return `call ${nameOfCall(callId)}`;
}

/** `7`, or `7.2`. */
export function nameOfCall(callId: string): string {
  const number = callNumber(callId);
  if (number === undefined) return nameInWords(callId);
  return number.call === 1 ? `${number.run}` : `${number.run}.${number.call}`;
}

/** Reads the name of a call as a model writes it: `call 7`, `7.2`. */
export function parseCallName(name: string): CallNumber | undefined {
  const [, run, call = '1'] = /^\s*(?:call\s*)?(\d{1,8})(?:\.(\d{1,3}))?\s*$/i.exec(name) ?? [];
  return run === undefined ? undefined : { run: Number(run), call: Number(call) };
}
