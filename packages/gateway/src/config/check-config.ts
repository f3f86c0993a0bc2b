import type { ImageModelV4, LanguageModelV4 } from '@ai-sdk/provider';
import { z } from 'zod';
import { type AgentConfig, agentConfigSchema } from './agent-config.ts';
import { gatewayLimitsSchema } from './agent-limits.ts';
import { artifactProblems } from './artifact-problems.ts';
import { artifactStoreSchema } from './artifact-store.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { type ConfigProblem, check, formatPath } from './config-problem.ts';
import { checkDefinitions, definitionNamed, problemsOfDefinition, unknownDefinition } from './definitions.ts';
import { parseEgressRule } from './egress-rule.ts';
import { hooksSchema } from './hook-config.ts';
import { hookProblems } from './hook-problems.ts';
import { isKnownTool } from './known-tool.ts';
import { DEFAULT_MCP_EXPOSURE, mcpExposureSchema } from './mcp-exposure.ts';
import { modelFilesSchema } from './model-files.ts';
import { namedBySubAgent } from './named-tools.ts';
import { notifySchema } from './notify-config.ts';
import { notifyProblems } from './notify-problems.ts';
import { planSeedSchema } from './plan-seed.ts';
import { currencySchema, DEFAULT_CURRENCY, pricesSchema } from './prices.ts';
import { projectProblems } from './project-problems.ts';
import { projectSeedSchema } from './project-seed.ts';
import { checkTools, type RegisteredTools } from './registered-tool.ts';
import { retentionSchema } from './retention.ts';
import { settingSchemas } from './settings.ts';
import { type SpaceSeed, spaceSeedSchema } from './space-seed.ts';
import { spendProblems } from './spend-problems.ts';
import type { SubAgentConfig } from './sub-agent.ts';
import type { ToolConfig } from './tool-config.ts';

/** Returns the configuration with its defaults filled in, or throws a ConfigError that lists every problem at once. */
export function checkConfig(value: unknown, file: string = 'lastcall.config.ts'): Config {
  const wrong = wholeFileProblem(value);
  if (wrong !== undefined) throw new ConfigError(file, [{ path: '', message: wrong }]);
  const {
    tools = {},
    definitions = {},
    ...data
  } = value as { readonly tools?: unknown; readonly definitions?: unknown };
  const checkedData = check(configSchema, data);
  const checkedTools = checkTools(tools, ['tools']);
  const checkedDefinitions = checkDefinitions(definitions);
  if (!checkedData.ok || !checkedTools.ok || !checkedDefinitions.ok)
    throw new ConfigError(
      file,
      [checkedData, checkedTools, checkedDefinitions].flatMap((one) => (one.ok ? [] : one.problems)),
    );
  const config: Config = {
    ...checkedData.value,
    tools: checkedTools.value,
    definitions: checkedDefinitions.value,
  };
  const problems = [
    ...subAgentProblems(config.tools),
    ...subAgentDefinitions(config),
    ...agentProblems(config.agents, config.tools),
    ...definitionProblems(config),
    ...spaceProblems(config),
    ...planProblems(config),
    ...projectProblems(config),
    ...hookProblems(config),
    ...notifyProblems(config),
    ...artifactProblems(config),
    ...spendProblems(config),
  ];
  if (problems.length > 0) throw new ConfigError(file, problems);
  return config;
}

// Without this check, an instance of a class would pass for an empty configuration, because it has no unknown fields.
function wholeFileProblem(value: unknown): string | undefined {
  const fix = 'Write: export default defineConfig({ … }).';
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `must export a configuration, not ${Array.isArray(value) ? 'an array' : value === null ? 'null' : typeof value}. ${fix}`;
  if (typeof (value as { then?: unknown }).then === 'function')
    return `must not export a promise: await it first. ${fix}`;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
    ? undefined
    : `must export a plain object. ${fix}`;
}

const envName = z.string().regex(/^[A-Za-z_]\w{0,127}$/, { error: 'must be the name of an environment variable.' });

const model = z.custom<LanguageModelV4>(
  (value) => typeof (value as Partial<LanguageModelV4> | null)?.doStream === 'function',
  { error: 'must be a language model of an AI SDK provider.' },
);

const imageModel = z.custom<ImageModelV4>(
  (value) => typeof (value as Partial<ImageModelV4> | null)?.doGenerate === 'function',
  { error: 'must be an image model of an AI SDK provider.' },
);

/** A field for a later version. It must be empty: accepting a value that is not used would mislead users. */
const notYet = (error: string): z.ZodType => z.array(z.unknown()).max(0, { error });

const noPlugins = notYet(
  'must be empty: plugins belong to a definition. Write defineAgent({ plugins, mode }) under definitions.',
);
const egressRule = z.string().refine((text) => parseEgressRule(text) !== undefined, {
  error: 'must be "host", "host:port" or a range of addresses such as "10.1.2.0/24:8080" or "[fd00::]/8:443".',
});

const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: 'must be an origin without a path, e.g. "https://app.example.com".',
});

const { port, host, home, databaseUrl, databaseDirectUrl, secretKey, encryptionKey, publicUrl } = settingSchemas;
const { trustedProxies, model: modelName, modelUrl, leaseMs, logLevel } = settingSchemas;

const configSchema: z.ZodType<Omit<Config, 'tools' | 'definitions'>> = z.strictObject({
  port: port.optional(),
  host: host.optional(),
  home: home.optional(),
  databaseUrl: databaseUrl.optional(),
  databaseDirectUrl: databaseDirectUrl.optional(),
  secretKey: secretKey.optional(),
  encryptionKey: encryptionKey.optional(),
  publicUrl: publicUrl.optional(),
  trustedProxies: trustedProxies.optional(),
  model: modelName.optional(),
  modelUrl: modelUrl.optional(),
  leaseMs: leaseMs.optional(),
  logLevel: logLevel.optional(),
  agents: z.array(agentConfigSchema).default([]),
  spaces: z.array(spaceSeedSchema).default([]),
  plans: z.array(planSeedSchema).max(1_000).default([]),
  projects: z.array(projectSeedSchema).max(1_000).default([]),
  hooks: hooksSchema.default({}),
  notify: notifySchema.default({}),
  plugins: noPlugins.optional(),
  models: z.record(z.string().regex(/^\S{1,200}$/), model).default({}),
  imageModels: z.record(z.string().regex(/^[\w.-]+\/\S{1,200}$/), imageModel).default({}),
  prices: pricesSchema.default({}),
  modelFiles: modelFilesSchema.default({}),
  currency: currencySchema.default(DEFAULT_CURRENCY),
  secrets: z.array(envName).default([]),
  egress: z.strictObject({ allow: z.array(egressRule).max(1_000).default([]) }).default({ allow: [] }),
  artifacts: artifactStoreSchema.default({}),
  limits: gatewayLimitsSchema.default({}),
  retention: retentionSchema.default({}),
  corsOrigins: z.array(origin).default([]),
  mcpServer: mcpExposureSchema.default(DEFAULT_MCP_EXPOSURE),
  tracing: z.strictObject({ texts: z.boolean().default(false) }).default({ texts: false }),
});

/** The file is read before there is a registry, so what its sub-agents name must be in the file. */
function subAgentProblems(tools: RegisteredTools): readonly ConfigProblem[] {
  return Object.values(tools)
    .flatMap((one) => namedBySubAgent(one, ['tools', one.name]))
    .filter(({ reference }) => !isKnownTool(tools, reference))
    .map(({ reference, path }) => ({
      path,
      message: `names "${reference}", which is not a tool of this configuration.`,
    }));
}

function subAgentDefinitions({ tools, definitions }: Config): readonly ConfigProblem[] {
  return Object.values(tools).flatMap((one) => {
    const name = one.kind === 'configured' ? subAgentOf(one)?.definition : undefined;
    if (name === undefined || definitionNamed(name, definitions) !== undefined) return [];
    const path = formatPath(['tools', one.name, 'execution', 'agentConfig', 'definition']);
    return [{ path, message: unknownDefinition(name, definitions) }];
  });
}

function subAgentOf({ execution }: ToolConfig): SubAgentConfig | undefined {
  return execution?.agentConfig as SubAgentConfig | undefined;
}

function agentProblems(agents: readonly AgentConfig[], tools: RegisteredTools): readonly ConfigProblem[] {
  const repeated = repeatedNames('agents', agents);
  const inline = agents.flatMap((agent, index) =>
    (agent.tools ?? []).flatMap((one, at) => {
      if (typeof one === 'string' || !Object.hasOwn(tools, one.name)) return [];
      const path = formatPath(['agents', index, 'tools', at, 'name']);
      return [{ path, message: `is also a tool under tools. Rename it, or write just "${one.name}".` }];
    }),
  );
  return [...repeated, ...inline];
}

function definitionProblems({ agents, definitions }: Config): readonly ConfigProblem[] {
  return agents.flatMap((agent, index) =>
    problemsOfDefinition(agent, definitions).map(({ path, message }) => ({
      path: `agents[${index}].${path}`,
      message,
    })),
  );
}

function spaceProblems({ spaces, agents }: Config): readonly ConfigProblem[] {
  const names = agents.map(({ name }) => name);
  const unknownAgents = (space: SpaceSeed, index: number): readonly ConfigProblem[] =>
    (space.agents ?? []).flatMap((name, at) =>
      names.includes(name)
        ? []
        : [
            {
              path: formatPath(['spaces', index, 'agents', at]),
              message: `is not an agent of this configuration. Its agents: ${list(names)}.`,
            },
          ],
    );
  return [...repeatedNames('spaces', spaces), ...spaces.flatMap(unknownAgents)];
}

/** Their schedules are checked when they are stored. */
function planProblems({ plans, agents }: Config): readonly ConfigProblem[] {
  const names = agents.map(({ name }) => name);
  return plans.flatMap(({ agent, key }, index): readonly ConfigProblem[] => {
    if (!names.includes(agent)) {
      const message = `is not an agent of this configuration. Its agents: ${list(names)}.`;
      return [{ path: formatPath(['plans', index, 'agent']), message }];
    }
    const first = plans.findIndex((other) => other.agent === agent && other.key === key);
    const message = `is ${JSON.stringify(key)} a second time for ${JSON.stringify(agent)}. Rename one.`;
    return first < index ? [{ path: formatPath(['plans', index, 'key']), message }] : [];
  });
}

function repeatedNames(field: string, all: readonly { readonly name: string }[]): readonly ConfigProblem[] {
  return all.flatMap(({ name }, index) =>
    all.findIndex((other) => other.name === name) < index
      ? [{ path: formatPath([field, index, 'name']), message: `is ${JSON.stringify(name)} a second time. Rename one.` }]
      : [],
  );
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => JSON.stringify(name)).join(', ');
}
