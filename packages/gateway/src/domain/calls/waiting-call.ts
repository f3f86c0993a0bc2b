import type { JsonSchemaObject } from '@lastcall/core';
import type { Selectable } from 'kysely';
import type { Answerers } from '../../config/tool-config.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { CallRow, Json, WaitKind, WaitStatus } from '../../ports/store/schema/tables.ts';
import { canBeGranted } from '../grants/granted-definition.ts';
import { type Display, toDisplay } from './display.ts';

/** A call that waits for an answer from outside the run: its result, or approval. */
export interface WaitingCall {
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  /** The space of its card. Without one, only secret keys and the named entities can answer. */
  readonly spaceId?: string;
  readonly toolName: string;
  /** The node of the machine that asks, if the agent is one. */
  readonly node?: string;
  readonly kind: WaitKind;
  readonly input: unknown;
  readonly display?: Display;
  readonly answeredBy?: Answerers;
  /** The schema of a result, or for an approval, of an edited input. */
  readonly resultSchema?: JsonSchemaObject;
  readonly status: WaitStatus;
  /** The answer that counted. */
  readonly answer?: unknown;
  readonly resolvedBy?: string;
  /** Set if a person or a service answered. */
  readonly resolvedByName?: string;
  /** Answers that came after the call ended, or after the answer that counted. */
  readonly lateAnswers?: readonly LateAnswer[];
  readonly expiresAt?: number;
  /** The number of the question, counted from 1, for a call that waits for input. */
  readonly round?: number;
  /** The open call that asks this. Its answer does not wake the agent: the call continues with it. */
  readonly duringCall?: string;
  readonly createdAt: number;
  readonly resolvedAt?: number;
  /** False for a call that waits for approval and cannot be granted in advance. */
  readonly mayGrant?: false;
  /** Set for a call that workers may claim. */
  readonly job?: JobState;
}

/** The progress of a job. */
interface JobState {
  /** How often it was claimed. */
  readonly claims: number;
  /** The last worker that claimed it, and how long its claim lasts without a heartbeat. */
  readonly worker?: string;
  readonly claimedUntil?: number;
}

export type { WaitKind };

export interface LateAnswer {
  readonly answer: unknown;
  readonly by: string;
  /** Set if a person or a service answered. It is not stored. */
  readonly byName?: string;
  readonly at: number;
}

/** The row must be one of a call that waits or waited. */
export function toWaitingCall(row: Selectable<CallRow>): WaitingCall {
  const { wait_kind: kind, wait_status: status } = row;
  if (kind === null || status === null) throw new TypeError(`Call ${row.id} has never waited.`);
  return {
    callId: row.id,
    runId: row.run_id,
    agentId: row.agent_id,
    ...optionalField('spaceId', row.space_id),
    toolName: row.tool_name,
    ...optionalField('node', row.node),
    kind,
    input: fromJson(row.input),
    ...optionalField('display', row.display === null ? null : toDisplay(fromJson(row.display))),
    ...optionalField('answeredBy', parsed<Answerers>(row.answerers)),
    ...optionalField('resultSchema', parsed<JsonSchemaObject>(row.answer_schema)),
    status,
    ...optionalField('answer', parsed(row.answer)),
    ...optionalField('resolvedBy', row.answered_by),
    ...optionalField('lateAnswers', parsed<LateAnswer[]>(row.late_answers)),
    ...optionalField('expiresAt', row.expires_at),
    ...optionalField('round', kind === 'input' ? row.rounds : null),
    ...optionalField('duringCall', row.during_call),
    createdAt: row.waiting_since ?? row.created_at,
    ...optionalField('resolvedAt', row.answered_at),
    ...(kind !== 'approval' || canBeGranted(row.asked_definition) ? {} : { mayGrant: false }),
    ...optionalField('job', row.offered_at === null ? null : toJobState(row)),
  };
}

function toJobState({ claims, claimed_by, claimed_until }: Selectable<CallRow>): JobState {
  return {
    claims,
    ...optionalField('worker', claimed_by),
    ...optionalField('claimedUntil', claimed_until),
  };
}

function parsed<T = unknown>(text: Json | null): T | null {
  return text === null ? null : fromJson<T>(text);
}

/** Adds the field only if there is a value. */
function optionalField<K extends string, T>(name: K, value: T | null): { readonly [name in K]?: T } {
  return value === null ? {} : ({ [name]: value } as { [name in K]: T });
}

/**
 * The call as an entity that may answer it sees it. Answers that did not count, and the process that works on it, are only for
 * operators.
 */
export function forAnswerer({ lateAnswers: _late, job, ...call }: WaitingCall): WaitingCall {
  if (job === undefined) return call;
  const { worker: _worker, ...shown } = job;
  return { ...call, job: shown };
}
