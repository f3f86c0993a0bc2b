import type { Filesystem } from '../files/filesystem.ts';
import type { Logger } from '../logger.ts';
import type { Session } from '../session/session.ts';
import type { AnySlice, SessionEvent } from '../session/slice.ts';

/**
 * A rule about calls. One that throws denies: it fails closed. `ToolName` is the type of the names in `tools`, so that
 * a misspelt one can be a compile error.
 */
export interface Policy<ToolName extends string = string> {
  readonly name: string;
  /** The tools that it names. A host that knows all tools refuses a name that none of them has. */
  readonly tools?: readonly ToolName[];
  /** The policy's state. It is registered before the policy is asked. */
  readonly slices?: readonly AnySlice[];
  /** Called before a call runs. The session is read-only here. */
  beforeCall?(call: PolicyCall, ctx: PolicyContext): PolicyDecision | Promise<PolicyDecision>;
  /**
   * Called if a call needs approval and has no answer yet. If it returns true, the call runs without waiting. If it returns anything else,
   * or throws, the call waits.
   */
  approveCall?(call: PolicyCall, ctx: PolicyContext): boolean | Promise<boolean>;
  /** Called when a call has succeeded, before it is committed. */
  afterCall?(
    call: PolicyCall & { readonly value: unknown },
    ctx: RecordingContext,
  ): PolicyDecision | Promise<PolicyDecision>;
  /** Wraps the file system the call gets. */
  guardFilesystem?(filesystem: Filesystem, call: PolicyCall, ctx: GuardContext): Filesystem;
}

/** A policy allows a call by returning nothing or true. */
// biome-ignore lint/suspicious/noConfusingVoidType: a policy that returns nothing allows
export type PolicyDecision = void | undefined | true | { readonly deny: string };

export interface PolicyCall {
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
}

export interface PolicyContext {
  readonly session: Session;
  readonly logger: Logger;
}

export interface RecordingContext extends PolicyContext {
  /**
   * Dispatches an event to the session once the call has succeeded; never if it fails. Also for calls without effects.
   */
  record<E extends SessionEvent>(event: E): void;
}

export interface GuardContext extends RecordingContext {
  /** Throws, and denies the call even if its tool catches the error. */
  deny(reason: string): never;
}

/** A rule whose hook has another name would never be asked, so it would allow everything. A policy with a name alone is meant to. */
export function isPolicy(value: unknown): value is Policy {
  if (typeof value !== 'object' || value === null) return false;
  const { name, tools: _tools, slices, ...rest } = value as Partial<Policy>;
  const { beforeCall, approveCall, afterCall, guardFilesystem, ...others } = rest;
  const hooks = [beforeCall, approveCall, afterCall, guardFilesystem].filter((hook) => hook !== undefined);
  const isAsked = hooks.length > 0 || slices !== undefined || Object.keys(others).length === 0;
  return typeof name === 'string' && name !== '' && isAsked && hooks.every((hook) => typeof hook === 'function');
}

export const POLICIES =
  'must be an array of policies, each with a name and a beforeCall, approveCall, afterCall or guardFilesystem';
