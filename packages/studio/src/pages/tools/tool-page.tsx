import type { Tool } from '@lastcall/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Pencil, Trash2 } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { client } from '../../data/client.ts';
import { toolById } from '../../data/tools.ts';
import { NotAllowed } from '../../parts/session/requires.tsx';
import { useMay } from '../../parts/session/session.tsx';
import { JsonText, SafeText } from '../../parts/text/safe-text.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ConfirmDialog } from '../../parts/ui/confirm-dialog.tsx';
import { Dialog } from '../../parts/ui/dialog.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Fact, Facts } from '../../parts/ui/facts.tsx';
import { Page, Section } from '../../parts/ui/page.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { SchemaView } from './schema-view.tsx';
import { ToolEditor } from './tool-editor.tsx';
import { SOURCES, ToolMarks } from './tool-marks.tsx';
import { UsedBy } from './tools-page.tsx';
import { TryTool } from './try-tool.tsx';

const route = getRouteApi('/tools/$id');

export function ToolPage(): ReactElement {
  const { id } = route.useParams();
  if (useMay('read')) return <LoadedTool key={id} id={id} />;
  return (
    <Page title="Tool">
      <NotAllowed scope="read" to="see the tools" />
    </Page>
  );
}

function LoadedTool({ id }: { id: string }): ReactElement {
  const { data: tool, error, refetch } = useQuery(toolById(id));
  if (tool === undefined)
    return (
      <Page title="Tool">
        {error !== null && <ErrorNote error={error} title="The tool could not be read." retry={() => void refetch()} />}
      </Page>
    );
  return (
    <Page title={tool.name} aside={<ToolActions tool={tool} />}>
      <About tool={tool} />
      <TryTool key={tool.version ?? 0} tool={tool} />
      <Schemas tool={tool} />
    </Page>
  );
}

function About({ tool }: { tool: Tool }): ReactElement {
  return (
    <Section title="What it does">
      <SafeText text={tool.description} />
      <ToolMarks tool={tool} />
      <Facts>
        <Fact name="From">
          {SOURCES[tool.source]}
          {tool.version !== undefined && `, version ${tool.version}`}
          {tool.updatedAt !== undefined && (
            <>
              , changed <Time at={tool.updatedAt} />
            </>
          )}
        </Fact>
        <Fact name="Runs">{EXECUTIONS[tool.executionType]}</Fact>
        <Fact name="Effects">
          {EFFECTS[tool.effects]}
          {tool.idempotent && ' Calling it twice with the same key acts once.'}
        </Fact>
        <Fact name="Used by">
          <UsedBy tool={tool} />
        </Fact>
      </Facts>
    </Section>
  );
}

const EXECUTIONS: Readonly<Record<Tool['executionType'], string>> = {
  gateway: 'in the gateway',
  external: 'in a worker that claims the call',
  space: 'by people in the space, who answer it',
  internal: 'as a part of the agent itself',
};

const EFFECTS: Readonly<Record<Tool['effects'], string>> = {
  none: 'None: it only reads.',
  session: 'Only in the run: its changes are undone if it fails.',
  external: 'Outside: its effects cannot be undone.',
};

function Schemas({ tool }: { tool: Tool }): ReactElement {
  return (
    <Section title="Schemas">
      <SchemaView title="Input" schema={tool.inputSchema} />
      {tool.outputSchema !== undefined && <SchemaView title="Output" schema={tool.outputSchema} />}
      {tool.resultSchema !== undefined && <SchemaView title="Answer" schema={tool.resultSchema} />}
      {tool.config !== undefined && (
        <details>
          <summary className="text-sm">The whole configuration</summary>
          <JsonText value={tool.config} label="Configuration" />
        </details>
      )}
    </Section>
  );
}

function ToolActions({ tool }: { tool: Tool }): ReactElement | null {
  const [asked, setAsked] = useState<'edit' | 'delete' | undefined>();
  const mayEdit = useMay('admin');
  const close = (): void => setAsked(undefined);
  if (tool.source !== 'api' || !mayEdit) return <WhyNot tool={tool} mayEdit={mayEdit} />;
  return (
    <>
      <Button onClick={() => setAsked('edit')}>
        <Pencil size={16} aria-hidden /> Edit
      </Button>
      <Button kind="ghost" aria-label="Delete the tool" onClick={() => setAsked('delete')}>
        <Trash2 size={16} aria-hidden />
      </Button>
      {asked === 'edit' && (
        <Dialog title={`Edit ${tool.name}`} onClose={close}>
          <ToolEditor tool={tool} onSaved={close} />
        </Dialog>
      )}
      {asked === 'delete' && <DeleteTool tool={tool} onClose={close} />}
    </>
  );
}

function WhyNot({ tool, mayEdit }: { tool: Tool; mayEdit: boolean }): ReactElement | null {
  const why = {
    api: mayEdit ? '' : 'To change it, you need the scope “admin”.',
    file: 'Change it in the configuration file.',
    definition: `Change it in the definition “${tool.definition ?? ''}” of the configuration file.`,
    mcp: 'Its MCP server defines it.',
    'built-in': 'It comes with the gateway.',
  }[tool.source];
  return <span className="text-xs text-quiet">{why}</span>;
}

function DeleteTool({ tool, onClose }: { tool: Tool; onClose: () => void }): ReactElement {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${tool.name}?`}
      action="Delete for good"
      isDanger
      typed={tool.name}
      onClose={onClose}
      onConfirm={async () => {
        await client.tools.delete(tool.id);
        await navigate({ to: '/tools' });
        queries.removeQueries({ queryKey: ['tools', tool.id] });
        await queries.invalidateQueries({ queryKey: ['tools'] });
      }}
    >
      <p>
        {tool.usedBy.length === 0
          ? 'No agent uses it.'
          : `It is removed from the agents that have it, and from their sub-agents: ${tool.usedBy.map(({ name }) => name).join(', ')}.`}{' '}
        Calls that wait for a result can still be answered.
      </p>
    </ConfirmDialog>
  );
}
