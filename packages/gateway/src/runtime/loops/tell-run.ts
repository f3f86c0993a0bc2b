import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { TurnEvent } from '@lastcall/core';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import { countEvent } from '../../telemetry/observe-run.ts';
import type { RunActivity } from '../../telemetry/run-activity.ts';
import type { RunTools } from '../run/run-tool.ts';
import { secretsOf, withoutSecrets } from '../toolset/remove-secrets.ts';
import type { OpenedRun } from './open-run.ts';

/** Passes what happens in a run to its journal, its log and the metrics. */
export function tellRun(
  { registry, run, tools, journal }: OpenedRun,
  activity: RunActivity,
  { modelId }: Pick<LanguageModelV4, 'modelId'>,
): (event: TurnEvent) => void {
  const secrets = secretsOf(registry);
  const counted = { model: modelId, labelOf: toolLabel(tools, run.settings) };
  return (event) => {
    const told = withoutSecrets(event, secrets);
    journal.onEvent(told);
    activity.onEvent(told);
    if (registry.metrics !== undefined) countEvent(registry.metrics, event, counted);
  };
}

/**
 * The label under which metrics count a call: the tool's name, or a fixed word if a caller or a model chose the name.
 */
type ToolLabel = (toolName: string) => string;

function toolLabel(
  offered: Pick<RunTools, 'tools' | 'ofNodes' | 'named'>,
  settings: TurnSettings | undefined,
): ToolLabel {
  const ofCaller = new Set((settings?.clientTools ?? []).map(({ name }) => name));
  return (toolName) => {
    if (ofCaller.has(toolName)) return 'caller';
    // A machine's nodes have tools of their own.
    const isKnown =
      Object.hasOwn(offered.tools, toolName) || (offered.ofNodes === true && offered.named(toolName) !== undefined);
    return isKnown ? toolName : 'unknown';
  };
}
