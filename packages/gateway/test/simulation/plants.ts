/** A mistake that is planted into the source, to see that a simulated world finds it. */
export interface Plant {
  readonly name: string;
  /** The first seed that finds it. */
  readonly seed: number;
  /** From `packages`. */
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

const LEASE = 'gateway/src/runtime/lease/lease.ts';
const RUNNABLE = 'gateway/src/runtime/find-runnable-threads.ts';
const TRANSACTION = 'gateway/src/ports/store/run-transaction.ts';
const JOURNAL = 'gateway/src/runtime/journal/run-journal.ts';
const CLOSE = 'gateway/src/runtime/journal/close-run.ts';
const READER = 'gateway/src/domain/streams/read-stream.ts';
const CACHE = 'gateway/src/runtime/claim/transcript-cache.ts';

export const PLANTS: readonly Plant[] = [
  {
    name: 'the fence does not check the epoch',
    seed: 63,
    file: LEASE,
    find: ".where('id', '=', threadId).where('epoch', '=', epoch), dialect)",
    replace: ".where('id', '=', threadId), dialect)",
  },
  {
    name: 'a claim does not raise the epoch',
    seed: 63,
    file: LEASE,
    find: "epoch: eb('epoch', '+', 1)",
    replace: "epoch: eb('epoch', '+', 0)",
  },
  {
    name: 'the sweep does not find lost wakes',
    seed: 3,
    file: RUNNABLE,
    find: 'const waiting = waitedMs === undefined ? [] :',
    replace: 'const waiting = waitedMs !== -1 ? [] :',
  },
  {
    name: 'the sweep does not find open runs',
    seed: 8,
    file: RUNNABLE,
    find: 'const open = await threadsWithOpenRuns(tx.db, { now });',
    replace: 'const open = (await threadsWithOpenRuns(tx.db, { now })).slice(0, 0);',
  },
  {
    name: 'numbers of a stream are used again',
    seed: 1,
    file: 'gateway/src/ports/store/append-stream-events.ts',
    find: "next_seq: eb('streams.next_seq', '+', count),",
    replace:
      "next_seq: eb('streams.next_seq', '+', sql<number>`case when ${count} > 3 then ${count} + 1 else ${count} end`),",
  },
  {
    name: 'a start is not durable before the tool runs',
    seed: 10,
    file: JOURNAL,
    find: 'return this.#queue.write([...started, ...shown]).then(nothing);',
    replace: 'this.#buffer([...started, ...shown]); return Promise.resolve();',
  },
  {
    name: 'a write whose outcome is unknown is repeated',
    seed: 386,
    file: 'gateway/src/ports/store/retry-while-unavailable.ts',
    find: 'const isAway = error instanceof StoreUnavailable && !error.inDoubt;',
    replace: 'const isAway = error instanceof StoreUnavailable;',
  },
  {
    name: 'a call gets another idempotency key than the one that is stored',
    seed: 1,
    file: 'core/src/turn/turn-call.ts',
    find: 'return this.#details.call.callId;\n  }\n\n  get provided',
    replace:
      'return `${this.#details.call.callId}${this.#turn.progress.started.has(this.#details.call.callId) ? "b" : ""}`;\n  }\n\n  get provided',
  },
  {
    name: 'the events of a run are not done when it ends',
    seed: 1,
    file: CLOSE,
    find: '  else tx.send(finishEvents, { runId });',
    replace: '  else if (status === "cancelled") tx.send(finishEvents, { runId });',
  },
  {
    name: 'the events of a failed run are done',
    seed: 28,
    file: CLOSE,
    find: ': { ...returned, available_at: at },',
    replace: ": { status: 'done', error },",
  },
  {
    name: 'a message that is sent twice is stored twice',
    seed: 2,
    file: 'gateway/src/domain/spaces/post-message.ts',
    find: 'client_message_id: newMessage.clientMessageId ?? null,',
    replace: 'client_message_id: `${newMessage.clientMessageId}${before === undefined ? "" : " "}`,',
  },
  {
    name: 'a message is stored without its events',
    seed: 7,
    file: 'gateway/src/domain/spaces/post-message.ts',
    find: 'const heardBy = await notifyAgents(services, tx, { space, message, replyToSeq, sender, recipients });',
    replace:
      'const heardBy = message.seq % 5 === 0 ? [] : await notifyAgents(services, tx, { space, message, replyToSeq, sender, recipients });',
  },
  {
    name: 'the key of a repeated request is ignored',
    seed: 39,
    file: 'gateway/src/runtime/chat/start-turn.ts',
    find: 'if (repeated !== undefined) return await repeatOf(tx, repeated, caller);',
    replace: 'void repeated; void repeatOf;',
  },
  {
    name: 'a plan fires twice',
    seed: 4,
    file: 'gateway/src/domain/plans/fire-due-plans.ts',
    find: 'eventId: `plan:${plan.id}:${dueAt}`,',
    replace: 'eventId: `plan:${plan.id}:${dueAt}:${now}`,',
  },
  {
    name: 'the second answer to a call counts too',
    seed: 7,
    file: 'gateway/src/domain/calls/answer-call.ts',
    find: 'const isOpen = !wasAnswered(row, answer);',
    replace: 'const isOpen = !wasAnswered(row, answer) || row.wait_status === "resolved";',
  },
  {
    name: 'a reader takes an event after a gap',
    seed: 2,
    file: READER,
    find: 'const follows = seq === this.#newest.value + 1 && this.#newest.value === this.#lastHeld();',
    replace: 'const follows = true;',
  },
  {
    name: 'a reader begins with the event that the client has',
    seed: 1,
    file: READER,
    find: 'this.#position = after ?? end;',
    replace: 'this.#position = after === undefined ? end : Math.max(0, after - 1);',
  },
  {
    name: 'a thread is not released at the end of a run',
    seed: 1,
    file: 'gateway/src/runtime/lease/release-thread.ts',
    find: "      .set({ lease_owner: null, lease_until: 0 })\n      .where('id', '=', threadId)\n      .returning",
    replace:
      "      .set((eb) => ({ lease_owner: eb.ref('lease_owner') }))\n      .where('id', '=', threadId)\n      .returning",
  },
  {
    name: 'the end of a call is written without its session',
    seed: 1,
    file: JOURNAL,
    find: '...serializeEnd(entry, { slices: staged.slices, machine, changes, fullOutcome }),',
    replace: '...serializeEnd(entry, { slices: {}, machine, changes, fullOutcome }),',
  },
  {
    name: 'the end of a call is written without its staged writes',
    seed: 1,
    file: 'gateway/src/runtime/journal/apply-writes.ts',
    find: "    case 'staged-writes':\n      return applyStaged(context, tx, write.callId);",
    replace: "    case 'staged-writes':\n      return undefined;",
  },
  {
    name: 'a transaction resolves before its commit',
    seed: 1,
    file: TRANSACTION,
    find: '      await this.#commit(onDoubt);\n      return value;',
    replace: '      void this.#commit(onDoubt).catch(() => {});\n      return value;',
  },
  {
    name: 'a transaction is committed although a statement failed',
    seed: 48,
    file: TRANSACTION,
    find: 'if (!this.#abortsOnError && this.#sent > 0) throwFirst(await this.#end());',
    replace: 'if (!this.#abortsOnError && this.#sent > 0) { await this.#end(); this.#failures.length = 0; }',
  },
  {
    name: 'a reader does not look for events whose notice was lost',
    seed: 2,
    file: READER,
    find: '    this.#newest.raiseTo(end);\n    return end;',
    replace: '    return end;',
  },
  {
    name: 'an approved call is not run',
    seed: 7,
    file: 'gateway/src/domain/calls/answer-call.ts',
    find: '  await pushCallEnd(tx, row, outcome, { resolvedBy, answeringRunId: runId });',
    replace:
      '  if (row.rounds >= 0 && now % 3 !== 0) await pushCallEnd(tx, row, outcome, { resolvedBy, answeringRunId: runId });',
  },
  {
    name: 'a failed run does not end what it announced',
    seed: 28,
    file: CLOSE,
    find: '  if (announcedSpaceId !== null) {',
    replace: "  if (announcedSpaceId !== null && status !== 'failed') {",
  },
  {
    name: 'a deleted agent goes on with its run',
    seed: 8,
    file: 'gateway/src/domain/agents/delete-agent.ts',
    find: '  await cancelRunsOf(tx, agentId);\n',
    replace: '',
  },
  {
    name: 'the calls of a deleted agent are not settled',
    seed: 32,
    file: 'gateway/src/domain/agents/delete-agent.ts',
    find: '  settleUnrun(tx, agentId);\n',
    replace: '',
  },
  {
    name: 'what a project has spent does not stop a run',
    seed: 10,
    file: 'gateway/src/runtime/spend/reserve-request.ts',
    find: 'if (reached !== undefined) {',
    replace: "if (reached !== undefined && scope.scope !== 'project') {",
  },
  {
    name: 'a compaction drops calls that wait',
    seed: 54,
    file: 'gateway/src/domain/transcript/compact.ts',
    find: 'carried: [...toSummaryEntries(lines), ...waiting, ...withFullInbox(',
    replace: 'carried: [...toSummaryEntries(lines), ...withFullInbox(',
  },
  {
    name: 'files that a call wrote are not stored',
    seed: 4,
    file: 'gateway/src/runtime/files/thread-files.ts',
    find: 'return files.filter(({ path }) => this.#unsaved.has(path));',
    replace: 'return [];',
  },
  {
    name: 'a reader that is behind keeps what comes after a gap',
    seed: 39,
    file: READER,
    find: 'const follows = seq === this.#newest.value + 1 && this.#newest.value === this.#lastHeld();',
    replace: 'const follows = seq === this.#newest.value + 1;',
  },
  {
    name: 'a revocation does not end the grant',
    seed: 77,
    file: 'gateway/src/domain/grants/list-grants.ts',
    find: "ended_by: by })\n    .where('id', '=', id)",
    replace: "ended_by: by })\n    .where('id', '=', '')",
  },
  {
    name: 'a grant covers every input',
    seed: 63,
    file: 'gateway/src/domain/grants/use-grant.ts',
    find: 'isCovered(fromJson<Condition[]>(grant.conditions), use.input) &&',
    replace: 'isCovered([], use.input) &&',
  },
  {
    name: "a machine's run that is taken over cancels the card of an answered call",
    seed: 516,
    file: 'gateway/src/runtime/journal/recover-calls.ts',
    find: 'wait_status === null || run.answers[callId] !== undefined',
    replace: "wait_status !== 'pending'",
  },
  {
    name: 'a card is written after the start',
    seed: 128,
    file: JOURNAL,
    find: 'return this.#queue.write([...started, ...shown]).then(nothing);',
    replace: 'return this.#queue.write(started).then(() => void this.#addLive(shown));',
  },
  {
    name: 'a call that was cut off runs again',
    seed: 108,
    file: 'core/src/turn/settle-batch.ts',
    find: 'return !tool.idempotent || turn.limit.hit !== undefined;',
    replace: 'return turn.limit.hit !== undefined;',
  },
];

/** Mistakes that no world has found so far. A rarer order of events may find them. */
export const UNFOUND_PLANTS: readonly Omit<Plant, 'seed'>[] = [
  {
    name: 'a call of a failed run is said not to have run',
    file: 'gateway/src/runtime/journal/fail-run.ts',
    find: "if (!isStarted) return { status: 'cancelled'",
    replace: "if (!isStarted || reason !== '') return { status: 'cancelled'",
  },
  {
    name: 'a transcript is cached although another worker wrote to it',
    file: CACHE,
    find: 'if (cached.epoch === (isNewClaim ? epoch - 1 : epoch)) return cached.rows;',
    replace: 'if (cached.epoch <= (isNewClaim ? epoch - 1 : epoch)) return cached.rows;',
  },
  {
    name: 'a transcript is not forgotten after an error',
    file: 'gateway/src/runtime/claim/next-run.ts',
    find: '    transcriptCache.forget(threadId);\n    throw error;',
    replace: '    throw error;',
  },
  {
    name: 'an unknown commit is taken for none',
    file: 'gateway/src/runtime/thread-state.ts',
    find: "const next = error.inDoubt ? nextThread(state, { type: 'commit-unknown' }) : state;",
    replace: 'const next = state;',
  },
];
