import type { Agent } from '@lastcall/client';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type ChangedNodes, type SentToDraft, sendToDraft } from '../../../data/drafts.ts';
import { changesBetween } from '../../../parts/form/changes-between.ts';
import { problemsOf } from '../../../parts/form/problems-of.ts';
import { type ConfigEditor, useConfigEditor } from '../config/use-config-editor.ts';
import { useKeptEdits } from '../config/use-kept-edits.ts';
import { keepNodes, keepRun, readKept, readKeptNodes, readKeptRun } from './kept-draft.ts';

const route = getRouteApi('/agents/$id');

export interface Workbench {
  readonly agent: Agent;
  readonly editor: ConfigEditor;
  /** Of a machine: what is different in its nodes. */
  readonly nodes: ChangedNodes;
  setNodes(nodes: ChangedNodes): void;
  /** The newest run of the conversation. Undefined before the first message. */
  readonly runId: string | undefined;
  /** Shows the conversation of another run. */
  show(runId: string | undefined): void;
  /** Sends to the agent as it is edited. Returns false if it was refused: then `error` says why. */
  send(sent: SentToDraft): Promise<boolean>;
  readonly isSending: boolean;
  readonly error: unknown;
}

/** The state of a workbench. What is edited is kept for a reload, and the conversation is in the address. */
export function useWorkbench(agent: Agent): Workbench {
  const editor = useConfigEditor(agent, readKept(agent.id));
  const { run, ...search } = route.useSearch();
  const navigate = useNavigate();
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const [nodes, setNodes] = useState<ChangedNodes>(() => readKeptNodes(agent.id));
  useKeptEdits(agent.id, editor);
  useEffect(() => keepNodes(agent.id, nodes), [agent.id, nodes]);
  const show = (runId: string | undefined, replace = false): void => {
    keepRun(agent.id, runId);
    setError(undefined);
    void navigate({
      to: '/agents/$id',
      params: { id: agent.id },
      search: runId === undefined ? search : { ...search, run: runId },
      replace,
    });
  };
  // The tab was left, or opened again without the address.
  useEffect(() => {
    const kept = readKeptRun(agent.id);
    if (run === undefined && kept !== undefined) show(kept, true);
  }, []);
  return {
    agent,
    editor,
    nodes,
    setNodes,
    runId: run,
    show,
    async send(sent) {
      if (isSending || !editor.check() || editor.after === undefined) return false;
      setSending(true);
      setError(undefined);
      try {
        // The gateway adds them to what is saved now, which another user may have changed.
        const changes = changesBetween(agent.config, editor.after);
        show(await sendToDraft(agent.id, { changes, nodes }, sent));
        return true;
      } catch (refused) {
        editor.showProblems(problemsOf(refused));
        setError(refused);
        return false;
      } finally {
        setSending(false);
      }
    },
    isSending,
    error,
  };
}
