import { mergeToolSets, type ToolSet } from '@lastcall/core';
import { BUILT_IN_TOOLS, type BuiltInGroup } from '../../config/built-in-groups.ts';
import type { GatewayLimits } from '../../config/limits.ts';
import { goalTools } from '../tools/goal-tools.ts';
import { memoryTools } from '../tools/memory-tools.ts';
import { planTools } from '../tools/plan-tools.ts';
import { readOutputTool } from '../tools/read-output.ts';
import { spaceTools } from '../tools/space-tools.ts';
import { currentRun } from './current-run.ts';

export type BuiltInLimits = Pick<GatewayLimits, 'messageCharacters'>;

const byLimit = new Map<number, ToolSet>();

/** The built-in tools of an agent, without the groups that it leaves out. */
export function agentBuiltIns(limits: BuiltInLimits, groups?: readonly BuiltInGroup[]): ToolSet {
  const all = allBuiltIns(limits);
  return groups === undefined ? all : ofGroups(all, groups);
}

function ofGroups(tools: ToolSet, groups: readonly BuiltInGroup[]): ToolSet {
  const names = new Set(groups.flatMap((group) => BUILT_IN_TOOLS[group]));
  return Object.fromEntries(Object.entries(tools).filter(([name]) => names.has(name)));
}

function allBuiltIns({ messageCharacters }: BuiltInLimits): ToolSet {
  const known = byLimit.get(messageCharacters);
  if (known !== undefined) return known;
  const tools = mergeToolSets(
    spaceTools(currentRun, { messageCharacters }),
    goalTools(currentRun),
    memoryTools(currentRun),
    planTools(currentRun),
    outputs,
  );
  byLimit.set(messageCharacters, tools);
  return tools;
}

/** The built-in tools of a conversation. It is in no space and stores only its messages. */
export function conversationBuiltIns(_limits: BuiltInLimits, groups?: readonly BuiltInGroup[]): ToolSet {
  return groups === undefined ? outputs : ofGroups(outputs, groups);
}

const outputs: ToolSet = { read_output: readOutputTool(currentRun) };
