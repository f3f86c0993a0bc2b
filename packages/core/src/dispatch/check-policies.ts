import type { Filesystem } from '../files/filesystem.ts';
import type {
  GuardContext,
  Policy,
  PolicyCall,
  PolicyContext,
  PolicyDecision,
  RecordingContext,
} from '../policies/policy.ts';
import { errorText } from '../results/describe-error.ts';
import { type ErrorOutcome, errorOutcome } from './refusal.ts';

/** Asks each policy before the call. The first that denies, throws or returns no clear decision ends it. */
export function checkBefore(
  policies: readonly Policy[],
  call: PolicyCall,
  ctx: PolicyContext,
): Promise<ErrorOutcome | undefined> {
  return askAll(policies, call, (policy) => policy.beforeCall?.(call, ctx));
}

/** True if one of the policies approves a call that would wait for approval. A policy that throws does not. */
export async function approvedBy(
  policies: readonly Policy[],
  call: PolicyCall,
  { session, logger }: PolicyContext,
): Promise<boolean> {
  for (const policy of policies) {
    if (policy.approveCall === undefined) continue;
    try {
      if ((await policy.approveCall(call, { session, logger })) === true) return true;
    } catch (error) {
      logger.error(`approveCall of the policy "${policy.name}" threw. The call waits for approval.`, error);
    }
  }
  return false;
}

/** True if the policy has a say in every call. One that only approves is asked about calls that would wait. */
export function isRule({ beforeCall, afterCall, guardFilesystem, slices }: Policy): boolean {
  return beforeCall !== undefined || afterCall !== undefined || guardFilesystem !== undefined || slices !== undefined;
}

/** Asks each policy once the call has succeeded, before anything is committed. */
export function checkAfter(
  policies: readonly Policy[],
  call: PolicyCall & { readonly value: unknown },
  ctx: RecordingContext,
): Promise<ErrorOutcome | undefined> {
  return askAll(policies, call, (policy) => policy.afterCall?.(call, ctx));
}

/** The file system as the policies let a call see it. */
export function guardFilesystem(
  policies: readonly Policy[],
  call: PolicyCall,
  filesystem: Filesystem,
  ctx: GuardContext,
): Filesystem {
  return policies.reduce((inner, policy) => policy.guardFilesystem?.(inner, call, ctx) ?? inner, filesystem);
}

async function askAll(
  policies: readonly Policy[],
  call: PolicyCall,
  ask: (policy: Policy) => PolicyDecision | Promise<PolicyDecision>,
): Promise<ErrorOutcome | undefined> {
  for (const policy of policies) {
    const reason = await denial(policy, ask);
    if (reason !== undefined) return denied(call.toolName, reason);
  }
  return undefined;
}

async function denial(
  policy: Policy,
  ask: (policy: Policy) => PolicyDecision | Promise<PolicyDecision>,
): Promise<string | undefined> {
  try {
    const decision: unknown = await ask(policy);
    if (decision === undefined || decision === true) return undefined;
    const reason =
      typeof decision === 'object' && decision !== null ? (decision as { deny?: unknown }).deny : undefined;
    return typeof reason === 'string' ? reason : `policy "${policy.name}" gave no clear decision`;
  } catch (error) {
    return `policy "${policy.name}" failed: ${errorText(error)}`;
  }
}

export function denied(toolName: string, reason: string): ErrorOutcome {
  return errorOutcome('denied', reason, `"${toolName}" was denied: ${reason}`);
}
