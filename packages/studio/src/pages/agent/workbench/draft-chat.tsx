import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { RotateCcw, SendHorizontal, SquarePen } from 'lucide-react';
import { type KeyboardEvent, type ReactElement, type RefObject, useEffect, useId, useRef } from 'react';
import { turnOf } from '../../../data/drafts.ts';
import { lastTasks } from '../../../data/try-draft.ts';
import { useKept } from '../../../parts/form/use-kept.ts';
import { isComposing } from '../../../parts/keyboard/is-composing.ts';
import { useIsOffline } from '../../../parts/session/connection.tsx';
import { Button } from '../../../parts/ui/button.tsx';
import { EmptyState } from '../../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../../parts/ui/error-note.tsx';
import { fieldClass } from '../../../parts/ui/field.tsx';
import type { LiveTurn } from './live-turn.ts';
import { summaryOf } from './turn-summary.ts';
import { NewestTurn, TurnView } from './turn-view.tsx';
import type { Workbench } from './use-workbench.ts';

interface DraftChatProps {
  readonly bench: Workbench;
  readonly live: LiveTurn | undefined;
  /** Set to what Ctrl+Enter does. */
  readonly sendRef: RefObject<(() => void) | undefined>;
}

export function DraftChat({ bench, live, sendRef }: DraftChatProps): ReactElement {
  const newest = live?.turn && summaryOf(live.turn);
  const list = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const status = newest?.last.status;
  const text = `${live?.runId} ${status} ${newest?.answer?.length} ${live?.writing.length}`;
  useEffect(() => {
    list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [text]);
  return (
    <>
      <div
        ref={list}
        role="log"
        aria-label="Conversation with the draft"
        className="min-h-0 flex-1 overflow-y-auto p-4"
      >
        {live === undefined ? (
          <Empty bench={bench} onSent={() => field.current?.focus()} />
        ) : (
          <ol className="mx-auto flex max-w-[44rem] flex-col gap-6">
            {live.before.map((id) => (
              <EarlierTurn key={id} runId={id} />
            ))}
            {live.error !== undefined && newest === undefined && (
              <li>
                <ErrorNote error={live.error} title="This conversation cannot be shown.">
                  <p>
                    <Button onClick={() => bench.show(undefined)}>Start over</Button>
                  </p>
                </ErrorNote>
              </li>
            )}
            {newest !== undefined && <NewestTurn bench={bench} live={live} turn={newest} />}
          </ol>
        )}
      </div>
      <Composer
        bench={bench}
        sendRef={sendRef}
        field={field}
        after={newest?.last.id}
        again={newest?.first.id}
        isBusy={live !== undefined && (!live.isLoaded || status === 'running' || status === 'queued')}
        isWaiting={status === 'waiting'}
      />
    </>
  );
}

function EarlierTurn({ runId }: { runId: string }): ReactElement | null {
  const { data } = useQuery(turnOf(runId));
  const turn = data && summaryOf(data);
  return turn === undefined ? null : <TurnView turn={turn} />;
}

/** Sentences to begin with: tasks that the agent had before, if there are any. */
function Empty({ bench, onSent }: { bench: Workbench; onSent: () => void }): ReactElement {
  const send = async (message: string): Promise<void> => {
    if (await bench.send({ message })) onSent();
  };
  const { data: tasks = [] } = useQuery(lastTasks(bench.agent.id));
  const inputs = [...new Set(tasks.map(({ input }) => input.trim()))].filter(
    (text) => text !== '' && text.length < 200,
  );
  const sentences = [...inputs.slice(0, 3), 'What can you do for me?'];
  return (
    <div className="mx-auto max-w-[44rem]">
      <EmptyState title={`Talk to ${withVisibleControls(bench.agent.name)} as you edit it.`}>
        <p>
          Nothing of this chat reaches spaces, goals, memories, plans or files. The draft reads its spaces, and what it
          would post or remember is only recorded. A call that acts outside waits until you give it a result, or name
          the tool and let it run.
        </p>
        <ul aria-label="Sentences to begin with" className="flex flex-col items-start gap-2">
          {sentences.map((message) => (
            <li key={message}>
              <Button
                disabled={bench.isSending}
                className="text-left whitespace-normal"
                onClick={() => void send(message)}
              >
                {withVisibleControls(message)}
              </Button>
            </li>
          ))}
        </ul>
      </EmptyState>
    </div>
  );
}

interface ComposerProps extends Pick<DraftChatProps, 'bench' | 'sendRef'> {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  /** The run whose conversation goes on. */
  readonly after: string | undefined;
  /** The run whose message is sent again. */
  readonly again: string | undefined;
  readonly isBusy: boolean;
  readonly isWaiting: boolean;
}

/** Enter sends, as in a space. Ctrl+Enter works from every field, and sends the last message again if there is no new one. */
function Composer({ bench, sendRef, field, after, again, isBusy, isWaiting }: ComposerProps): ReactElement {
  const [text, setText] = useKept(`workbench.${bench.agent.id}`, () => '');
  const isOffline = useIsOffline();
  const hint = useId();
  const isBlocked = bench.isSending || isOffline || isBusy;
  const send = async (): Promise<void> => {
    const message = text.trim();
    if (isBlocked || isWaiting || message === '') return;
    if (await bench.send({ message, after })) setText('');
  };
  const sendAgain = (): void => {
    if (!isBlocked && again !== undefined) void bench.send({ again });
  };
  sendRef.current = () => (text.trim() === '' ? sendAgain() : void send());
  const onKeyDown = (event: KeyboardEvent): void => {
    const isPlain = !(event.shiftKey || event.ctrlKey || event.metaKey || isComposing(event.nativeEvent));
    if (event.key !== 'Enter' || !isPlain) return;
    event.preventDefault();
    void send();
  };
  return (
    <div className="border-t border-line bg-surface px-4 py-3">
      <div className="mx-auto flex max-w-[44rem] flex-col gap-2">
        {bench.error !== undefined && <ErrorNote error={bench.error} title="Nothing was sent." />}
        <div className="flex items-end gap-2">
          <textarea
            ref={field}
            rows={1}
            aria-label="Write to the draft"
            aria-describedby={hint}
            placeholder="Write to the draft …"
            value={text}
            readOnly={bench.isSending}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={onKeyDown}
            className={`${fieldClass} field-sizing-content max-h-48 min-h-9 resize-none py-2`}
          />
          <Button
            kind="primary"
            className="min-h-9"
            disabled={isBlocked || isWaiting || text.trim() === ''}
            onClick={() => void send()}
          >
            <SendHorizontal size={16} aria-hidden /> {bench.isSending ? 'Sending …' : 'Send'}
          </Button>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {again !== undefined && (
            <>
              <Button disabled={isBlocked} onClick={sendAgain}>
                <RotateCcw size={16} aria-hidden /> Send the last message again
              </Button>
              <Button kind="ghost" onClick={() => bench.show(undefined)}>
                <SquarePen size={16} aria-hidden /> Start over
              </Button>
            </>
          )}
          <p
            id={hint}
            className={`text-xs ${isOffline ? 'text-wait' : isWaiting || isBusy ? 'text-quiet' : 'text-quiet pointer-coarse:hidden'}`}
          >
            {hintFor({ isOffline, isBusy, isWaiting })}
          </p>
        </div>
      </div>
    </div>
  );
}

interface Blocked extends Pick<ComposerProps, 'isBusy' | 'isWaiting'> {
  readonly isOffline: boolean;
}

/** Why nothing can be sent, or how. */
function hintFor({ isOffline, isBusy, isWaiting }: Blocked): string {
  if (isOffline) return 'You are offline: nothing is sent or queued. Your text stays here.';
  if (isBusy) return 'You can send when the draft has answered, or when you have stopped it.';
  if (isWaiting) return 'Answer the call that waits, or send the last message again.';
  return 'Ctrl+Enter sends from every field.';
}
