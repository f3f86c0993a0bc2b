import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { AgentConfig } from '../../config/agent-config.ts';
import { type AgentLimits, resolveAgentLimits } from '../../config/agent-limits.ts';
import { DEFAULT_PROJECT } from '../../config/default-project.ts';
import { definitionNamed } from '../../config/definitions.ts';
import type { RegisteredTool, RegisteredTools } from '../../config/registered-tool.ts';
import { keysAtMost } from '../../domain/at-most.ts';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import { toRegisteredTool } from '../../domain/tools/stored-tool.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { AgentRow, Tables, ToolRow } from '../../ports/store/schema/tables.ts';
import { RunSetup } from '../run/run-setup.ts';
import type { ThreadKind } from '../run/thread-kind.ts';
import { withServersOf } from '../tools/mcp/mcp-servers.ts';
import { namedInRegistry, readRegistryTools } from './read-registry-tools.ts';
import type { Registry } from './registry.ts';

/**
 * The cache of what runs need of their agents' configurations. To parse a configuration, check its tools and compile their schemas takes
 * longer than a run.
 *
 * - **Key**: the project, the text of the configuration, the kind of thread, the version of the registry's tools, and the settings of the request that
 *   change the tools. The text stands for an agent and its version: a new version has another text, and agents of one project
 *   with equal texts share an entry.
 * - **Content** (`RunSetup`): the configuration as the run uses it, the limits, the tools of the registry that it names, the tools that were
 *   made of all these, and the text that describes them in stored requests. Tools of MCP servers follow their servers within an entry.
 * - **Dropped**: when the registry's tools have another version, those that the configuration names are read again. If one of them
 *   changed, the entry is replaced; otherwise it stays. A run keeps the entry that it began with. Everything else is dropped when it
 *   was not used for the longest time.
 * - **Size**: 20 million characters of configurations, where a short one counts as 4,000, so at most 5,000 of them; and as much for tools of
 *   the registry, which entries share. With what is compiled, they take about ten times as many bytes. Of each configuration, a million
 *   characters of settings, where a request counts as at least 10,000, so at most 100: one caller cannot drop the entries of others.
 *
 * Schemas are compiled once per object (config/data-schema.ts), and so shared by the entries that share the tool. The tools that a
 * caller runs are compiled when its request is checked, before there is a run (client-tools.ts).
 */
export class RunSetups {
  readonly #registry: Registry;
  readonly #agents = new LRUCache<string, AgentSetup>(LARGEST);
  readonly #tools = new LRUCache<string, RegisteredTool>(LARGEST);

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** `config` is the stored configuration. */
  ofAgent({ config, project_id: project }: Pick<AgentRow, 'config' | 'project_id'>): AgentSetup {
    const key = project === DEFAULT_PROJECT ? config : `${project} ${config}`;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const made = new AgentSetup(fromJson<AgentConfig>(config), project, this.#registry);
    this.#agents.set(key, made);
    return made;
  }

  /** Reads the store only if the registry's tools have changed since the last run. `toolsVersion` was read with the claim. */
  async ofRun(db: Kysely<Tables>, agent: AgentSetup, { kind, settings, toolsVersion }: RunKey): Promise<RunSetup> {
    const key = keyOf(kind, settings);
    const known = agent.runs.get(key) ?? this.#newRun(agent, kind.configOf(agent.config, settings));
    const { references, registryTools } = known;
    if (references.length > 0 && known.toolsVersion !== toolsVersion) {
      const tools = await readRegistryTools(db, references, this.#registry, {
        project: agent.project,
        toTool: (row) => this.#toolOf(row),
      });
      // Most changes of the registry concern other agents' tools.
      const setup = isSame(registryTools, tools) ? known : new RunSetup({ ...known, registryTools: tools });
      setup.toolsVersion = toolsVersion;
      agent.runs.set(key, setup);
      return setup;
    }
    agent.runs.set(key, known);
    return known;
  }

  #newRun({ limits }: AgentSetup, config: AgentConfig): RunSetup {
    const { definitions = {} } = this.#registry;
    const definition = config.definition === undefined ? undefined : definitionNamed(config.definition, definitions);
    const references = namedInRegistry(config, this.#registry);
    return new RunSetup({ config, limits, definition, references, registryTools: NONE });
  }

  #toolOf(row: ToolRow): RegisteredTool {
    const key = `${row.id} ${row.version} ${row.config}`;
    const made = this.#tools.get(key) ?? toRegisteredTool(row);
    this.#tools.set(key, made);
    return made;
  }
}

const LARGEST = keysAtMost({ entries: 5_000, characters: 20_000_000 });
const OF_SETTINGS = keysAtMost({ entries: 100, characters: 1_000_000 });
const NONE: RegisteredTools = {};

export interface RunKey {
  readonly kind: ThreadKind;
  readonly settings: TurnSettings | undefined;
  /** How often the registry of tools was changed; null if it never was. */
  readonly toolsVersion: string | null;
}

/** A configuration, and the setups of its runs. */
class AgentSetup {
  readonly config: AgentConfig;
  readonly project: string;
  readonly limits: AgentLimits;
  readonly runs: RunsOfAgent = new RunsOfAgent();

  constructor(config: AgentConfig, project: string, { agentLimits }: Registry) {
    this.config = withServersOf(project, config);
    this.project = project;
    this.limits = resolveAgentLimits(config.limits, agentLimits);
  }
}

/** Most runs have no settings. Those that have some cannot drop the others. */
class RunsOfAgent {
  readonly #plain = new Map<string, RunSetup>();
  #withSettings: LRUCache<string, RunSetup> | undefined;

  get({ kind, settings }: SettingsKey): RunSetup | undefined {
    return settings === undefined ? this.#plain.get(kind) : this.#withSettings?.get(`${kind} ${settings}`);
  }

  set({ kind, settings }: SettingsKey, setup: RunSetup): void {
    if (settings === undefined) {
      this.#plain.set(kind, setup);
      return;
    }
    this.#withSettings ??= new LRUCache<string, RunSetup>(OF_SETTINGS);
    this.#withSettings.set(`${kind} ${settings}`, setup);
  }
}

interface SettingsKey {
  readonly kind: string;
  readonly settings: string | undefined;
}

function keyOf({ name: kind }: ThreadKind, settings: TurnSettings = {}): SettingsKey {
  const { tools, terminating, clientTools, isWithoutEffects } = settings;
  const used = { tools, terminating, clientTools, isWithoutEffects };
  return { kind, settings: Object.values(used).every((one) => one === undefined) ? undefined : toJson(used) };
}

function isSame(before: RegisteredTools, now: RegisteredTools): boolean {
  const names = Object.keys(now);
  return names.length === Object.keys(before).length && names.every((name) => before[name] === now[name]);
}

/** The cache of a registry: what the process provides is part of what is made. */
export function setupsOf(registry: Registry): RunSetups {
  const known = setups.get(registry) ?? new RunSetups(registry);
  setups.set(registry, known);
  return known;
}

const setups = new WeakMap<Registry, RunSetups>();
