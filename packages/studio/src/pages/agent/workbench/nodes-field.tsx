import type { MachineNode } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { agentMachine } from '../../../data/agents.ts';
import type { ChangedNodes } from '../../../data/drafts.ts';
import { Button } from '../../../parts/ui/button.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';
import { TextArea, TextField } from '../../../parts/ui/field.tsx';
import type { Workbench } from './use-workbench.ts';

/** The nodes of a machine. They are code, so what is changed here can be tried, and not saved. */
export function NodesField({ bench }: { bench: Workbench }): ReactElement {
  const { data, error, refetch } = useQuery({ ...agentMachine(bench.agent.id, undefined), refetchInterval: false });
  const { nodes, setNodes } = bench;
  const isChanged = Object.keys(nodes).length > 0;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">Nodes of the machine</legend>
      {error !== null && <ErrorNote error={error} title="The nodes were not loaded." retry={() => void refetch()} />}
      {data?.nodes.map((node) => (
        <NodeFields key={node.name} node={node} nodes={nodes} onChange={setNodes} />
      ))}
      <div className="flex flex-wrap items-center justify-between gap-2 text-xs text-quiet">
        <p className="min-w-0 flex-1 basis-60">
          Nodes are code: what you change here is tried in this chat only. To keep it, copy it into your program.
        </p>
        {isChanged && (
          <Button kind="ghost" onClick={() => setNodes({})}>
            Restore all nodes
          </Button>
        )}
      </div>
    </fieldset>
  );
}

interface NodeFieldsProps {
  readonly node: MachineNode;
  readonly nodes: ChangedNodes;
  readonly onChange: (nodes: ChangedNodes) => void;
}

function NodeFields({ node, nodes, onChange }: NodeFieldsProps): ReactElement {
  const changed = nodes[node.name] ?? {};
  const set = (field: 'instructions' | 'model', text: string): void => {
    const { [field]: _before, ...rest } = changed;
    const isOwn = text === (node[field] ?? '');
    const next = isOwn ? rest : { ...rest, [field]: text };
    const { [node.name]: _node, ...others } = nodes;
    onChange(Object.keys(next).length === 0 ? others : { ...others, [node.name]: next });
  };
  return (
    <details className="rounded border border-line">
      <summary className="flex min-h-9 flex-wrap items-center gap-x-2 px-3">
        <bdi className="font-medium">{withVisibleControls(node.name)}</bdi>
        <span className="text-xs text-quiet">
          {node.worker && 'worker'}
          {Object.keys(changed).length > 0 && ' changed'}
        </span>
      </summary>
      <div className="flex flex-col gap-3 border-t border-line p-3">
        <TextArea
          label={`Instructions of ${withVisibleControls(node.name)}`}
          rows={4}
          className="field-sizing-content max-h-[50vh] min-h-20"
          placeholder={node.instructions === undefined ? 'Its code makes them of the state.' : undefined}
          value={changed.instructions ?? node.instructions ?? ''}
          onChange={({ target }) => set('instructions', target.value)}
        />
        <TextField
          label={`Model of ${withVisibleControls(node.name)}`}
          isOptional
          placeholder={node.model ?? 'the agent’s model'}
          value={changed.model ?? node.model ?? ''}
          onChange={({ target }) => set('model', target.value)}
        />
      </div>
    </details>
  );
}
