import { type UsedSpace, withVisibleControls } from '@lastcall/client/react';
import { Paperclip, SendHorizontal } from 'lucide-react';
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react';
import { ChosenFiles } from '../../parts/files/chosen-files.tsx';
import { MOST_FILES, type UsedUploads, useUploads } from '../../parts/files/use-uploads.ts';
import { isComposing } from '../../parts/keyboard/is-composing.ts';
import { useIsOffline } from '../../parts/session/connection.tsx';
import { isRefused } from '../../parts/session/is-refused.ts';
import { useSession } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { keepAttempt, keepDraft, nextAttempt, readAttempt, readDraft } from './draft.ts';
import { Failures } from './failures.tsx';
import { ArchivedNote } from './space-menu.tsx';
import { Suggestions } from './suggestions.tsx';
import type { UsedHeard } from './use-heard.ts';

interface ComposerProps {
  readonly used: UsedSpace;
  readonly onSay: UsedHeard['say'];
}

/** Enter sends; Shift+Enter starts a new line. The text stays until the gateway has it. */
export function Composer({ used, onSay }: ComposerProps): ReactElement {
  const { entity } = useSession().session;
  const isMember = used.members.some(({ entityId }) => entityId === entity?.id);
  const { space } = used;
  if (space?.archivedAt !== undefined)
    return (
      <Below>
        <ArchivedNote space={space} />
      </Below>
    );
  return (
    <Below>
      <Failures used={used} />
      {isMember && <Suggestions used={used} onSay={onSay} />}
      {isMember ? <WriteTo used={used} onSay={onSay} /> : <MayNotWrite isPerson={entity !== undefined} />}
    </Below>
  );
}

function Below({ children }: { children: ReactNode }): ReactElement {
  return (
    <div className="beside-scroll-bar shrink-0 print:hidden border-t border-line bg-surface px-4 py-3 wide:px-6">
      <div className="column-talk flex flex-col gap-2">{children}</div>
    </div>
  );
}

function WriteTo({ used: { space }, onSay }: ComposerProps): ReactElement {
  const spaceId = space?.id ?? '';
  const [text, setText] = useState(() => readDraft(spaceId));
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const uploads = useUploads();
  const attachments = uploads.files.flatMap(({ attachment }) => attachment?.id ?? []);
  const isUnsent = uploads.files.some(({ problem }) => problem !== undefined) || uploads.files.length > MOST_FILES;
  const isSendable = (text.trim() !== '' || attachments.length > 0) && !uploads.isBusy && !isUnsent;
  const field = useRef<HTMLTextAreaElement>(null);
  const isOffline = useIsOffline();
  const hint = useId();
  const write = (next: string): void => {
    setText(next);
    keepDraft(spaceId, next);
    // Its author has given this message up. The same words later are another message, and must not be taken for a repetition.
    if (next === '' && attachments.length === 0) keepAttempt(spaceId, undefined);
  };
  const send = async (): Promise<void> => {
    if (!isSendable || isSending || isOffline) return;
    setSending(true);
    setError(undefined);
    try {
      const attempt = nextAttempt(readAttempt(spaceId), text.trim(), attachments);
      keepAttempt(spaceId, attempt);
      await onSay(attempt);
      keepAttempt(spaceId, undefined);
      write('');
      uploads.clear();
    } catch (failure) {
      setError(failure);
    } finally {
      setSending(false);
      field.current?.focus();
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
    event.preventDefault();
    void send();
  };
  const onPaste = ({ clipboardData: { files } }: ClipboardEvent): void => uploads.add(files);
  const onDrop = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    uploads.add(event.dataTransfer.files);
  };
  return (
    <>
      {error !== undefined && <NotSent error={error} onRetry={() => void send()} />}
      <ChosenFiles uploads={uploads} />
      {uploads.files.length > MOST_FILES && (
        <p role="alert" className="text-sm text-bad">
          A message can have {MOST_FILES} files. Remove some of them.
        </p>
      )}
      <div className="flex items-end gap-1 rounded-card border border-quiet bg-surface p-1 focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent">
        <ChooseFiles uploads={uploads} isDisabled={isSending || isOffline} />
        <textarea
          ref={field}
          rows={1}
          aria-label={`Write to ${space?.name ?? 'the space'}`}
          aria-describedby={hint}
          placeholder={`Write to ${withVisibleControls(space?.name ?? '')} …`}
          readOnly={isSending}
          value={text}
          onChange={({ target }) => write(target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onDrop={onDrop}
          className="field-sizing-content max-h-48 min-h-9 min-w-0 flex-1 resize-none bg-transparent px-1 py-2 outline-none placeholder:text-quiet"
        />
        <Button
          kind="primary"
          className="min-h-9"
          disabled={isSending || isOffline || !isSendable}
          onClick={() => void send()}
        >
          <SendHorizontal size={16} aria-hidden /> {isSending ? 'Sending …' : 'Send'}
        </Button>
      </div>
      <p id={hint} className={`text-xs ${isOffline ? 'text-wait' : 'sr-only'}`}>
        {isOffline
          ? 'You are offline: nothing is sent or queued. Your text stays here.'
          : 'Enter sends, Shift+Enter starts a new line. Paste or drop files to attach them.'}
      </p>
    </>
  );
}

function NotSent({ error, onRetry }: { error: unknown; onRetry: () => void }): ReactElement {
  if (isRefused(error)) return <ErrorNote error={error} title="The message was not sent." />;
  return (
    <ErrorNote
      error={error}
      title="The gateway did not confirm the message. Send it again unchanged: it is posted once."
      retry={onRetry}
    />
  );
}

function ChooseFiles({ uploads, isDisabled }: { uploads: UsedUploads; isDisabled: boolean }): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          uploads.add(target.files ?? []);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
      <Button
        kind="ghost"
        className="min-h-9 px-2"
        aria-label="Attach files"
        disabled={isDisabled}
        onClick={() => input.current?.click()}
      >
        <Paperclip size={16} aria-hidden />
      </Button>
    </>
  );
}

function MayNotWrite({ isPerson }: { isPerson: boolean }): ReactNode {
  return (
    <p className="text-sm text-quiet">
      {isPerson
        ? 'You are not a member of this space: as an operator you can read it, but not write here.'
        : 'You are signed in without a person, so your messages would have no sender. Choose a person to act as in the settings.'}
    </p>
  );
}
