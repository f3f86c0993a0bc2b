import { type Agent, type AgentConfig, ClientError } from '@lastcall/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { agentById } from '../../../data/agents.ts';
import { client } from '../../../data/client.ts';
import { changesBetween } from '../../../parts/form/changes-between.ts';
import { readJson } from '../../../parts/form/draft.ts';
import type { Problem } from '../../../parts/form/path.ts';
import { problemsOf } from '../../../parts/form/problems-of.ts';
import { applyChanges, type ConfigDraft, readConfigDraft, toConfigDraft } from './config-draft.ts';

type Config = Readonly<Record<string, unknown>>;

/** The last saved configuration that this editor knows; edits are compared with it. */
interface Base {
  readonly version: number;
  readonly config: Config;
}

export interface ConfigEditor {
  readonly base: Base;
  readonly draft: ConfigDraft;
  setDraft(draft: ConfigDraft): void;
  /** The whole configuration as JSON, while the user edits it that way. */
  readonly json: string | undefined;
  setJson(json: string): void;
  switchMode(): void;
  /** What would be saved. Undefined if it cannot be read. */
  readonly after: Config | undefined;
  readonly isChanged: boolean;
  readonly problems: readonly Problem[];
  /** Set if another user saved meanwhile: their version, and which fields both changed. */
  readonly conflict: { readonly theirs: Base; readonly both: readonly string[] } | undefined;
  /** Continues from their version, with the edits made here on top. */
  rebase(): void;
  /** Continues from the saved version and drops the edits. */
  discard(): void;
  /** Loads an earlier configuration into the form. */
  load(config: AgentConfig): void;
  /** Shows what the gateway refused, at its fields. */
  showProblems(problems: readonly Problem[]): void;
  /** True if the edits can be saved; otherwise the problems are shown at their fields. */
  check(): boolean;
  save(): Promise<void>;
  readonly error: unknown;
}

/** `kept`: edits that were made before the page was loaded, and what they began with. */
export function useConfigEditor(agent: Agent, kept?: { readonly base: Base; readonly config: Config }): ConfigEditor {
  const [base, setBase] = useState<Base>(() => kept?.base ?? baseOf(agent));
  const [draft, setDraft] = useState(() => toConfigDraft((kept?.config as AgentConfig | undefined) ?? agent.config));
  const [json, setJson] = useState<string | undefined>();
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [error, setError] = useState<unknown>();
  const queries = useQueryClient();

  const { value: after, problems: unread } = read(draft, json);
  const changes = after === undefined ? {} : changesBetween(base.config, after);
  const isChanged = after === undefined || Object.keys(changes).length > 0;
  const start = (from: Base, config: Config): void => {
    setBase(from);
    setDraft(toConfigDraft(config as AgentConfig));
    setJson((before) => (before === undefined ? undefined : pretty(config)));
    setProblems([]);
    setError(undefined);
  };
  const theirs = baseOf(agent);
  const isBehind = theirs.version > base.version;
  // Nothing was edited, so there is nothing to lose.
  if (isBehind && !isChanged) start(theirs, theirs.config);
  return {
    base,
    draft,
    setDraft,
    json,
    setJson,
    switchMode() {
      if (json === undefined) return setJson(pretty(readConfigDraft(draft).config));
      if (after === undefined) return setProblems(unread);
      setDraft(toConfigDraft(after as AgentConfig));
      setJson(undefined);
      setProblems([]);
    },
    after,
    isChanged,
    problems,
    conflict:
      isBehind && isChanged
        ? { theirs, both: Object.keys(changesBetween(base.config, theirs.config)).filter((name) => name in changes) }
        : undefined,
    rebase: () => start(theirs, applyChanges(theirs.config, changes)),
    discard: () => start(theirs, theirs.config),
    load: (config) => start(base, config),
    showProblems: setProblems,
    check() {
      setProblems(unread);
      return unread.length === 0;
    },
    async save() {
      setError(undefined);
      setProblems([]);
      try {
        const saved = await client.agents.update(agent.id, { ...changes, ifVersion: base.version });
        start(baseOf(saved), saved.config);
        queries.setQueryData(agentById(agent.id).queryKey, saved);
      } catch (refused) {
        setProblems(problemsOf(refused));
        // Their version is loaded and shown beside the edits made here.
        if (refused instanceof ClientError && refused.code === 'version_conflict')
          await queries.refetchQueries(agentById(agent.id));
        else setError(refused);
        throw refused;
      }
      void queries.invalidateQueries({ queryKey: ['agents', agent.id, 'versions'] });
    },
    error,
  };
}

function baseOf({ configVersion, config }: Agent): Base {
  return { version: configVersion, config };
}

function read(
  draft: ConfigDraft,
  json: string | undefined,
): { value: Config | undefined; problems: readonly Problem[] } {
  if (json === undefined) {
    const { config, problems } = readConfigDraft(draft);
    return { value: config, problems };
  }
  const { value, problems } = readJson(json);
  if (problems.length > 0) return { value: undefined, problems };
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject
    ? { value: value as Config, problems: [] }
    : { value: undefined, problems: [{ path: '', message: 'A configuration is an object: { … }.' }] };
}

function pretty(config: Config): string {
  return JSON.stringify(config, null, 2);
}
