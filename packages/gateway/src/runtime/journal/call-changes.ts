import type { Change, Changes } from '@lastcall/core';
import { clip } from '../../domain/transcript/clip.ts';
import { asJson, fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { KnownSecrets } from '../../telemetry/known-secrets.ts';

/** If there are more changes of one kind, the rest is shown as a number. */
const MOST_NAMES = 50;
const SAMPLE_CHARACTERS = 500;
const NAME_CHARACTERS = 200;

/** What people read about the changes of a call, without secrets. Undefined if it changed nothing. */
export function toCallChanges(parts: readonly (Changes | undefined)[], secrets: KnownSecrets): Changes | undefined {
  if (parts.every(isEmpty)) return undefined;
  const listed = (of: keyof Changes): readonly Change[] => {
    const all = parts.flatMap((part) => part?.[of] ?? []);
    return fold(all).map((change) => toSafe(change, secrets));
  };
  const [committed, discarded] = [listed('committed'), listed('discarded')];
  return committed.length === 0 && discarded.length === 0 ? undefined : { committed, discarded };
}

function isEmpty(part: Changes | undefined): boolean {
  return part === undefined || (part.committed.length === 0 && part.discarded.length === 0);
}

/** Keeps the first changes of each kind, and counts the rest. */
function fold(changes: readonly Change[]): readonly Change[] {
  const more = new Map<string, number>();
  for (const { kind, count } of changes.slice(MOST_NAMES)) more.set(kind, (more.get(kind) ?? 0) + count);
  const rest = [...more].map(([kind, count]) => ({ kind, name: '', count }));
  return [...changes.slice(0, MOST_NAMES), ...rest];
}

function toSafe({ kind, name, count, sample, diff }: Change, secrets: KnownSecrets): Change {
  // Secrets are removed before the text is cut: a part of one would not be recognised.
  const safe = <T>(value: T): T => secrets.removeFromAll(value);
  const shown = sample === undefined ? undefined : toSample(safe(asJson(sample)));
  return {
    kind,
    name: clip(safe(name), NAME_CHARACTERS),
    count,
    ...(shown === undefined ? {} : { sample: shown }),
    ...(diff === undefined ? {} : { diff: safe(diff) }),
  };
}

/** The value, or the beginning and the end of its text. */
function toSample(value: unknown): unknown {
  const json = toJson(value);
  if (json.length <= SAMPLE_CHARACTERS) return fromJson(json);
  return clip(typeof value === 'string' ? value : json, SAMPLE_CHARACTERS);
}
