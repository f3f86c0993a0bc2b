import type { AgentConfig } from '../../config/agent-config.ts';
import type { AgentLimits } from '../../config/agent-limits.ts';
import type { CompiledDefinition } from '../../config/definitions.ts';
import type { RegisteredTools } from '../../config/registered-tool.ts';
import type { RequestText } from '../../domain/runs/stored-request.ts';
import type { RunTools } from './run-tool.ts';

/** What a run needs of its agent's configuration. It is shared by runs: see `RunSetups`. */
export class RunSetup {
  readonly config: AgentConfig;
  readonly limits: AgentLimits;
  /** Undefined if the configuration names none. */
  readonly definition: CompiledDefinition | undefined;
  /** The names of tools in the configuration that the registry may have. */
  readonly references: readonly string[];
  /** The registry's tools that the configuration names, as they were when the run was claimed. */
  readonly registryTools: RegisteredTools;
  toolsVersion: string | null = null;
  #tools: RunTools | undefined;
  readonly #described = new WeakMap<object, RequestText>();

  constructor({ config, limits, definition, references, registryTools }: SetupParts) {
    this.config = config;
    this.limits = limits;
    this.definition = definition;
    this.references = references;
    this.registryTools = registryTools;
  }

  /** The tools of the configuration, made by the first run that needs them. */
  tools(make: () => RunTools): RunTools {
    this.#tools ??= make();
    return this.#tools;
  }

  /** The text that describes the tools that a model was offered. They are mostly the same list in every request of a node. */
  describe<T extends object>(tools: T, toText: (tools: T) => RequestText): RequestText {
    const text = this.#described.get(tools) ?? toText(tools);
    this.#described.set(tools, text);
    return text;
  }
}

type SetupParts = Pick<RunSetup, 'config' | 'limits' | 'definition' | 'references' | 'registryTools'>;
