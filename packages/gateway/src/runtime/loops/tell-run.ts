import type { TurnEvent } from '@lastcall/core';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { OF_PROJECT } from '../../config/registered-tool.ts';
import { countCall } from '../../telemetry/observe-run.ts';
import type { RunActivity } from '../../telemetry/run-activity.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { RunSetup } from '../run/run-setup.ts';
import type { RunTools } from '../run/run-tool.ts';
import { isToolNameOf } from '../tools/mcp/mcp-tool-name.ts';
import { secretsOf, withoutSecrets } from '../toolset/remove-secrets.ts';
import type { OpenedRun } from './open-run.ts';

/** Passes what happens in a run to its journal, its log and the metrics. */
export function tellRun(
  { registry, run, tools, journal }: OpenedRun,
  activity: RunActivity,
): (event: TurnEvent) => void {
  const secrets = secretsOf(registry);
  const labelOf = toolLabel(tools, run);
  return (event) => {
    const told = withoutSecrets(event, secrets);
    journal.onEvent(told);
    activity.onEvent(told);
    if (registry.metrics !== undefined) countCall(registry.metrics, event, labelOf);
  };
}

/**
 * The label under which metrics count a call: the tool's name, or a fixed word if a caller or a model chose the name.
 */
type ToolLabel = (toolName: string) => string;

function toolLabel(
  offered: Pick<RunTools, 'tools' | 'ofNodes' | 'named'>,
  { settings, agent: { project, setup } }: ActiveRun,
): ToolLabel {
  const ofCaller = new Set((settings?.clientTools ?? []).map(({ name }) => name));
  return (toolName) => {
    if (ofCaller.has(toolName)) return 'caller';
    // A machine's nodes have their own tools.
    const isKnown =
      Object.hasOwn(offered.tools, toolName) || (offered.ofNodes === true && offered.named(toolName) !== undefined);
    if (!isKnown) return 'unknown';
    // Everyone may read the metrics. A tool that the file or the gateway brings is known to all projects.
    return project.id !== DEFAULT_PROJECT && isOwn(toolName, setup) ? OF_PROJECT : toolName;
  };
}

/** True for a tool of the registry, of the agent's own configuration, or of an MCP server. */
function isOwn(toolName: string, { config, registryTools }: RunSetup): boolean {
  const inline = (config.tools ?? []).some((one) => typeof one !== 'string' && one.name === toolName);
  return (
    inline ||
    Object.hasOwn(registryTools, toolName) ||
    (config.mcp?.servers ?? []).some(({ name }) => isToolNameOf(name, toolName))
  );
}
