import type { Agent, Goal, InboxEvent, Memory, MessagePart, ModelMessage } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { agentTranscript } from '../../data/agents.ts';
import { JsonText, SafeText } from '../../parts/text/safe-text.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { eventInWords } from './inbox-words.ts';

/** What the agent knows when its next run starts. */
export function TranscriptTab({ agent }: { agent: Agent }): ReactElement | null {
  const { data, error, refetch } = useQuery(agentTranscript(agent.id));
  if (data === undefined) return error === null ? null : <ErrorNote error={error} retry={() => void refetch()} />;
  return (
    <>
      <Section title="Goals">
        <Goals goals={data.goals} />
      </Section>
      <Section title="Memories">
        <Memories memories={data.memories} />
      </Section>
      <Section title="What it remembers of its runs">
        {data.messages.length === 0 ? (
          <p className="text-quiet">Nothing yet: it has not run.</p>
        ) : (
          <ol className="flex flex-col gap-3">
            {data.messages.map((message, index) => (
              <TranscriptMessage key={index} message={message} />
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}

function Goals({ goals }: { goals: readonly Goal[] }): ReactElement {
  if (goals.length === 0) return <p className="text-quiet">None. It sets goals itself while it works.</p>;
  return (
    <ul className="flex flex-col">
      {goals.map(({ key, description, status, priority, updatedAt }) => (
        <li key={key} className="flex flex-wrap items-baseline gap-x-4 border-b border-line py-2 last:border-b-0">
          <span className="w-24 text-sm text-quiet">{withVisibleControls(status)}</span>
          <SafeText text={description} className="min-w-0 flex-1 basis-64" />
          <span className="text-xs text-quiet">priority {priority}</span>
          <Time at={updatedAt} />
        </li>
      ))}
    </ul>
  );
}

function Memories({ memories }: { memories: readonly Memory[] }): ReactElement {
  if (memories.length === 0) return <p className="text-quiet">None. It notes what it wants to keep for later.</p>;
  return (
    <dl className="flex flex-col">
      {memories.map(({ key, value, updatedAt }) => (
        <div key={key} className="flex flex-wrap items-baseline gap-x-4 border-b border-line py-2 last:border-b-0">
          <dt className="w-40 font-mono text-xs">{withVisibleControls(key)}</dt>
          <dd className="min-w-0 flex-1 basis-64">
            {typeof value === 'string' ? <SafeText text={value} /> : <JsonText value={value} label={key} />}
          </dd>
          <dd>
            <Time at={updatedAt} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const ROLES: Readonly<Record<ModelMessage['role'], string>> = {
  system: 'Gateway',
  user: 'What arrived',
  assistant: 'The agent',
  tool: 'Results',
};

function TranscriptMessage({ message: { role, content } }: { message: ModelMessage }): ReactElement {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return (
    <li className="grid gap-x-4 wide:grid-cols-[7rem_1fr]">
      <span className="text-sm text-quiet">{ROLES[role]}</span>
      <div className="flex min-w-0 flex-col gap-2">
        {parts.map((part, index) => (
          <Part key={index} part={part} />
        ))}
      </div>
    </li>
  );
}

function Part({ part }: { part: MessagePart }): ReactElement {
  if (part.type === 'text' || part.type === 'reasoning')
    return <SafeText text={String(part.text)} className={part.type === 'reasoning' ? 'text-quiet italic' : ''} />;
  if (part.type === 'inbox' && Array.isArray(part.events)) return <Arrived events={part.events} />;
  if (part.type === 'summary' && Array.isArray(part.lines))
    return <SafeText text={part.lines.map(String).join('\n')} className="text-quiet" />;
  const name = typeof part.toolName === 'string' ? part.toolName : part.type;
  const body = part.type === 'tool-call' ? part.input : part.type === 'tool-result' ? part.output : part;
  return (
    <details>
      <summary className="text-sm">
        {part.type === 'tool-call' ? 'called ' : part.type === 'tool-result' ? 'result of ' : ''}
        <span className="font-mono text-xs">{withVisibleControls(name)}</span>
      </summary>
      <JsonText value={body} label={name} />
    </details>
  );
}

/** Events as the model reads them, in words. */
function Arrived({ events }: { events: readonly unknown[] }): ReactElement {
  return (
    <ul className="flex flex-col gap-1">
      {events.map((line, index) => {
        const { type, data } = line as { readonly type: string; readonly data: object };
        return (
          <li key={index}>
            <SafeText text={eventInWords({ type, ...data } as InboxEvent)} />
          </li>
        );
      })}
    </ul>
  );
}
