import type { Machine, MachineInstance } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { JsonText } from '../../../parts/text/safe-text.tsx';

/** The instances, each with its children below it. */
export function InstanceTree({ machine }: { machine: Machine }): ReactElement {
  const childrenOf = new Map<string | undefined, MachineInstance[]>();
  for (const instance of machine.instances) {
    const siblings = childrenOf.get(instance.parentId);
    if (siblings === undefined) childrenOf.set(instance.parentId, [instance]);
    else siblings.push(instance);
  }
  return <Level instances={childrenOf.get(undefined) ?? []} childrenOf={childrenOf} primary={machine.primary} />;
}

interface LevelProps {
  readonly instances: readonly MachineInstance[];
  readonly childrenOf: ReadonlyMap<string | undefined, readonly MachineInstance[]>;
  readonly primary: string | undefined;
}

function Level({ instances, childrenOf, primary }: LevelProps): ReactElement {
  return (
    <ul className="flex flex-col gap-2">
      {instances.map((instance) => {
        const children = childrenOf.get(instance.id) ?? [];
        return (
          <li key={instance.id} className="flex flex-col gap-2">
            <Instance instance={instance} isPrimary={instance.id === primary} isLeaf={children.length === 0} />
            {children.length > 0 && (
              <div className="ml-2 border-l border-line pl-4">
                <Level instances={children} childrenOf={childrenOf} primary={primary} />
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

interface InstanceProps {
  readonly instance: MachineInstance;
  readonly isPrimary: boolean;
  /** An instance with children does not act until they have ended. */
  readonly isLeaf: boolean;
}

function Instance({ instance, isPrimary, isLeaf }: InstanceProps): ReactElement {
  const { id, node, worker, phase, state } = instance;
  return (
    <div className="flex flex-col gap-1">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-medium">{withVisibleControls(node)}</span>
        <span className="font-mono text-xs text-quiet">{withVisibleControls(id)}</span>
        <span className={(isLeaf ? PHASE_COLOURS[phase] : undefined) ?? 'text-quiet'}>
          {isLeaf ? withVisibleControls(phase) : 'waits for those below'}
        </span>
        {isPrimary && <Mark>talks with the user</Mark>}
        {worker && <Mark>worker</Mark>}
      </p>
      {hasContent(state) && <JsonText value={JSON.stringify(state, null, 2)} label={`State of ${node} (${id})`} />}
    </div>
  );
}

function Mark({ children }: { children: string }): ReactElement {
  return <span className="rounded border border-line px-1 text-xs text-quiet">{children}</span>;
}

const PHASE_COLOURS: Readonly<Record<string, string>> = { ready: 'text-accent', suspended: 'text-wait' };

function hasContent(state: unknown): boolean {
  return state !== undefined && state !== null && JSON.stringify(state) !== '{}';
}
