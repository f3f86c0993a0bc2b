import type { AiSdkTool } from '../contract/ai-sdk-tool.ts';
import type { AnyTool } from '../contract/any-tool.ts';
import { assertToolSet, missing, type ToolSet } from '../contract/tool-set.ts';
import { ToolSetError } from '../errors.ts';
import { checkFields } from './check-definition.ts';
import type { ToolDefinition } from './tool-definition.ts';

/** The settings that can be added to a tool from outside. */
type ToolConfiguration = Pick<
  AnyTool,
  | 'id'
  | 'terminal'
  | 'effects'
  | 'idempotent'
  | 'timeoutMs'
  | 'approval'
  | 'keepLatest'
  | 'render'
  | 'compensate'
  | 'forbidsRewind'
  | 'transition'
  | 'policies'
>;

const CONFIGURABLE: readonly (keyof ToolConfiguration)[] = [
  'id',
  'terminal',
  'effects',
  'idempotent',
  'timeoutMs',
  'approval',
  'keepLatest',
  'render',
  'compensate',
  'forbidsRewind',
  'transition',
  'policies',
];

/** A new tool set with settings for tools made elsewhere. `*` applies to all; a setting by name takes precedence. */
export function configureTools(set: ToolSet, settings: Readonly<Record<string, ToolConfiguration>>): ToolSet {
  assertToolSet(set);
  for (const [name, one] of Object.entries(settings)) {
    if (name !== '*' && !Object.hasOwn(set, name)) throw new ToolSetError(missing(name, set));
    checkConfiguration(name, one);
  }
  const configure = (name: string, tool: AnyTool | AiSdkTool): AnyTool | AiSdkTool => ({
    ...tool,
    ...given(settings['*']),
    ...given(own(settings, name)),
  });
  return Object.fromEntries(Object.entries(set).map(([name, tool]) => [name, configure(name, tool)]));
}

/** A setting that is undefined sets nothing: otherwise it would take away the tool's approval. */
function given(settings: ToolConfiguration = {}): ToolConfiguration {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function checkConfiguration(name: string, one: ToolConfiguration): void {
  if (typeof one !== 'object' || one === null)
    throw new ToolSetError(`configureTools: "${name}" must be an object of settings.`);
  for (const key of Object.keys(one)) {
    if (!CONFIGURABLE.includes(key as keyof ToolConfiguration)) {
      throw new ToolSetError(
        `configureTools: "${name}" has no setting "${key}". Settings: ${CONFIGURABLE.join(', ')}.`,
      );
    }
  }
  checkFields(one as Partial<ToolDefinition>, name);
}

function own(settings: Readonly<Record<string, ToolConfiguration>>, name: string): ToolConfiguration | undefined {
  return Object.hasOwn(settings, name) ? settings[name] : undefined;
}
