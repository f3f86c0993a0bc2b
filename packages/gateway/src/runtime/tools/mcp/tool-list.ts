import type { Logger } from '@lastcall/core';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import type { McpDefinition } from './mcp-definition.ts';
import type { McpList } from './open-client.ts';
import { ToolChecker } from './tool-checker.ts';

/** The tools of a server that agents may use now. The object changes only if its contents do. */
export interface McpSnapshot {
  readonly tools: readonly McpDefinition[];
}

/**
 * Returns the names of tools whose definitions changed and wait for approval. `isChanged`: the list differs from the
 * last one.
 */
type FindHeld = (
  tools: readonly McpDefinition[],
  list: { readonly isChanged: boolean },
) => Promise<ReadonlySet<string>>;

export interface ToolListOptions {
  readonly name: string;
  readonly secrets: KnownSecrets;
  readonly logger: Logger;
  readonly findHeld: FindHeld;
}

const NO_TOOLS: McpSnapshot = { tools: [] };

/** The last good list of a server, and the tools in it that agents may use. */
export class ToolList {
  readonly #options: ToolListOptions;
  readonly #checker: ToolChecker;
  /** Undefined until a good list was read. */
  #tools: readonly McpDefinition[] | undefined;
  #snapshot = NO_TOOLS;
  #held: readonly string[] = [];
  #unusable: readonly string[] = [];

  constructor(options: ToolListOptions) {
    this.#options = options;
    this.#checker = new ToolChecker(options.secrets);
  }

  get snapshot(): McpSnapshot {
    return this.#snapshot;
  }

  /** Tools that changed and wait for approval. */
  get held(): readonly string[] {
    return this.#held;
  }

  /** Entries that are left out, with the reasons. */
  get unusable(): readonly string[] {
    return this.#unusable;
  }

  /** True once a good list was read. */
  get isKnown(): boolean {
    return this.#tools !== undefined;
  }

  /** Replaces the list with the server's new one. If that fails, the old one stays. */
  async take(listed: McpList): Promise<'same' | 'changed'> {
    const { tools, problems } = await this.#checker.check(listed);
    const isChanged = !isSame(tools, this.#tools ?? []);
    await this.#offer(tools, { isChanged });
    this.#reportUnusable(problems);
    this.#tools = tools;
    return isChanged ? 'changed' : 'same';
  }

  /** Checks whether the held tools are approved now, without asking the server. */
  async checkHeld(): Promise<void> {
    if (this.#tools !== undefined && this.#held.length > 0) await this.#offer(this.#tools, { isChanged: false });
  }

  async #offer(tools: readonly McpDefinition[], list: { readonly isChanged: boolean }): Promise<void> {
    const held = await this.#options.findHeld(tools, list);
    const offered = tools.filter(({ name }) => !held.has(name));
    // The same object is kept while nothing changes, so that tools need not be made again.
    if (!isSame(offered, this.#snapshot.tools)) this.#snapshot = { tools: offered };
    this.#reportHeld([...held]);
  }

  #reportUnusable(unusable: readonly string[]): void {
    const { name, logger } = this.#options;
    if (unusable.length > 0 && unusable.join() !== this.#unusable.join())
      logger.warn(`Some tools of the MCP server "${name}" cannot be used.`, { unusable });
    this.#unusable = unusable;
  }

  #reportHeld(held: readonly string[]): void {
    const { name, logger } = this.#options;
    if (held.length > 0 && held.join() !== this.#held.join())
      logger.warn(`Some tools of the MCP server "${name}" have changed and wait for approval.`, { held });
    this.#held = held;
  }
}

/** An unchanged definition is the same object. */
function isSame(tools: readonly McpDefinition[], others: readonly McpDefinition[]): boolean {
  return tools.length === others.length && tools.every((one, index) => one === others[index]);
}
