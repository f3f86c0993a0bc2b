import type { ModelMessage, Run, StepRequest } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { stepRequest } from '../../data/runs.ts';
import { JsonText } from '../../parts/text/safe-text.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { CopyButton } from './copy-button.tsx';
import { commonMessages, partInWords, tokensInWords } from './request-diff.ts';
import { toCurl } from './to-curl.ts';

interface RequestTabProps {
  readonly run: Run;
  readonly step: number | undefined;
  readonly isOfMachine: boolean;
}

/**
 * The exact request of a step. Messages that were not in the step before are marked, unless it is a step of a machine: the step before may be
 * that of another instance.
 */
export function RequestTab({ run, step, isOfMachine }: RequestTabProps): ReactElement {
  const known = step ?? 1;
  const { data, error, refetch } = useQuery({ ...stepRequest(run.id, known), enabled: step !== undefined });
  const { data: before } = useQuery({ ...stepRequest(run.id, known - 1), enabled: known > 1 && !isOfMachine });
  if (step === undefined)
    return <p className="text-quiet">An earlier run asked for this call. Its request is there.</p>;
  if (error !== null)
    return <ErrorNote error={error} title="The request of this step cannot be shown." retry={() => void refetch()} />;
  if (data === undefined) return <p className="text-quiet">Reading the request …</p>;
  return <Request request={data} before={isOfMachine ? undefined : before} step={step} />;
}

function Request({
  request,
  before,
  step,
}: {
  request: StepRequest;
  before: StepRequest | undefined;
  step: number;
}): ReactElement {
  const { instructions, messages, tools, settings, model } = request;
  const known = before === undefined ? messages.length : commonMessages(before.messages, messages);
  const isDifference = before !== undefined;
  const isNewText = before !== undefined && before.instructions !== instructions;
  const hasNewTools = before !== undefined && JSON.stringify(before.tools) !== JSON.stringify(tools);
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p className="text-quiet">
        {model !== undefined && <bdi>{model}</bdi>} {countOf(messages, 'message')}, {countOf(tools, 'tool')}
        {before !== undefined && `, ${messages.length - known} new since step ${step - 1}`}
      </p>
      <Fold title="Instructions" size={tokensInWords(instructions)} isNew={isNewText}>
        <JsonText value={instructions} label="Instructions" />
      </Fold>
      <Fold
        title={`Tools: ${tools.map(({ name }) => name).join(', ')}`}
        size={tokensInWords(tools)}
        isNew={hasNewTools}
      >
        <JsonText value={tools} label="Tools" />
      </Fold>
      {Object.keys(settings).length > 0 && (
        <Fold title="Settings">
          <JsonText value={settings} label="Settings" />
        </Fold>
      )}
      {isDifference && known > 0 && (
        <Fold
          title={`${known} ${known === 1 ? 'message' : 'messages'}, as in step ${step - 1}`}
          size={tokensInWords(messages.slice(0, known))}
        >
          <MessageList label="Messages of the step before" messages={messages.slice(0, known)} isNew={false} />
        </Fold>
      )}
      <MessageList label="Messages" messages={isDifference ? messages.slice(known) : messages} isNew={isDifference} />
      <p className="flex flex-wrap gap-2">
        <CopyButton text={JSON.stringify(request, null, 2)} label="Copy the whole request as JSON" />
        <CopyButton text={toCurl(request)} label="Copy it as curl" />
      </p>
    </div>
  );
}

interface MessageListProps {
  readonly label: string;
  readonly messages: readonly ModelMessage[];
  readonly isNew: boolean;
}

function MessageList({ label, messages, isNew }: MessageListProps): ReactElement {
  return (
    <ol aria-label={label} className="flex flex-col gap-2">
      {messages.map((message, index) => (
        <MessageView key={index} message={message} isNew={isNew} />
      ))}
    </ol>
  );
}

function Fold({
  title,
  size,
  isNew = false,
  children,
}: {
  title: string;
  size?: string;
  isNew?: boolean;
  children: ReactNode;
}): ReactElement {
  return (
    <details className="rounded border border-line">
      <summary className="min-h-7 px-2 py-1 font-medium">
        <span className="inline-flex w-[calc(100%-1.5rem)] items-baseline gap-2 align-bottom">
          <span className="truncate">{withVisibleControls(title)}</span> {isNew && <New />}
          <span className="ml-auto shrink-0 text-sm font-normal text-quiet">{size}</span>
        </span>
      </summary>
      <div className="p-2 pt-0">{children}</div>
    </details>
  );
}

function New(): ReactElement {
  return <span className="rounded bg-accent-soft px-1 text-xs font-medium text-accent">new</span>;
}

function MessageView({ message, isNew }: { message: ModelMessage; isNew: boolean }): ReactElement {
  const { role, content } = message;
  const parts = typeof content === 'string' ? [{ label: 'text', body: content as unknown }] : content.map(partInWords);
  return (
    <li className={`flex flex-col gap-1 border-l-2 pl-2 ${isNew ? 'border-accent' : 'border-line'}`}>
      <p className="text-xs font-medium text-quiet">
        {role} {isNew && <New />}
        <span className="float-right font-normal">{tokensInWords(content)}</span>
      </p>
      {parts.map(({ label, body }, index) => (
        <div key={index} className="flex flex-col gap-0.5">
          {label !== 'text' && <p className="text-xs text-quiet">{withVisibleControls(label)}</p>}
          <JsonText value={body} label={`${role}: ${label}`} />
        </div>
      ))}
    </li>
  );
}

function countOf(list: readonly unknown[], word: string): string {
  return list.length === 1 ? `1 ${word}` : `${list.length} ${word}s`;
}
