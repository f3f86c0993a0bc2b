import type { PendingCall } from '@lastcall/client';

/** Calls that ask exactly the same: of one agent, in one place, with one tool and one input, shown in the same way. */
export interface CallGroup {
  /** The call that is shown. */
  readonly leader: PendingCall;
  /** The others. Each gets its own answer. */
  readonly others: readonly PendingCall[];
}

interface Grouping {
  /** Calls that were opened. They stay leaders, so that an open card is never replaced by another. */
  readonly opened: ReadonlySet<string>;
  /** Calls that are shown one by one. */
  readonly split: ReadonlySet<string>;
}

/** The calls in their order, with those that ask the same in one group, at the place of its first. */
export function groupCalls(calls: readonly PendingCall[], { opened, split }: Grouping): readonly CallGroup[] {
  const byKey = new Map<string, PendingCall[]>();
  for (const call of calls) {
    const key = split.has(call.callId) ? call.callId : keyOf(call);
    byKey.set(key, [...(byKey.get(key) ?? []), call]);
  }
  return [...byKey.values()].map((same) => {
    const leader = same.find(({ callId }) => opened.has(callId)) ?? (same[0] as PendingCall);
    return { leader, others: same.filter((call) => call !== leader) };
  });
}

/**
 * Without a space, a call belongs to a conversation, which may be that of another person, or a fork. Nothing in the list says which, so only calls of one
 * run are alike.
 */
function keyOf({ agentId, spaceId, runId, toolName, kind, input, display, resultSchema, node }: PendingCall): string {
  const place = spaceId === undefined ? { runId } : { spaceId };
  return JSON.stringify([agentId, place, toolName, kind, input, display, resultSchema, node]);
}
