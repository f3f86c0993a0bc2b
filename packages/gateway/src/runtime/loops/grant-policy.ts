import type { Policy } from '@lastcall/core';
import { canBeGranted } from '../../domain/grants/granted-definition.ts';
import { hasGrants } from '../../domain/grants/use-grant.ts';
import { asJson, fromJson, toJson } from '../../ports/store/schema/json.ts';
import { askedDefinition } from '../toolset/tool-definition.ts';
import type { OpenedRun } from './open-run.ts';
import { readyFor } from './ready-for.ts';

/** How long a server may take to say that its tool is still the same. After that the call waits for approval. */
const SERVER_MS = 10_000;

/**
 * Lets a call run without waiting if a grant covers it. The turns of sub-agents do not have this policy: their calls are asked about by the
 * call around them.
 */
export function grantPolicy(open: OpenedRun): Policy {
  return { name: 'grants', approveCall: (call) => isGranted(open, call) };
}

type PolicyCall = Parameters<NonNullable<Policy['approveCall']>>[0];

async function isGranted(open: OpenedRun, { callId, toolName, input }: PolicyCall): Promise<boolean> {
  const { run, tools, journal, context } = open;
  const { id: agentId } = run.agent;
  if (!(await context.read((db) => hasGrants(db, agentId, toolName)))) return false;
  // What was granted must still be what runs.
  if (tools.isOfServer?.(toolName) === true)
    await tools.ready?.({ ...readyFor(open), isFresh: true, withinMs: SERVER_MS });
  const definition = await askedDefinition(tools, toolName);
  if (!canBeGranted(definition)) return false;
  // As a card would show it, because conditions are made from what a card shows.
  return await journal.useGrant({ callId, toolName, input: fromJson(toJson(asJson(input))), definition });
}
