import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';
import { TextField } from './field.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  /** What will happen. */
  readonly children?: ReactNode;
  /** What the button says, e.g. "Pause Concierge". */
  readonly action: string;
  readonly isDanger?: boolean;
  /** The text that must be typed before the button works, for actions that cannot be undone. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before an action runs, and stays open with the error if it failed. */
export function ConfirmDialog(props: ConfirmDialogProps): ReactElement {
  const { title, children, action, isDanger = false, typed, onConfirm, onClose } = props;
  const [text, setText] = useState('');
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    onConfirm()
      .then(onClose, setError)
      .finally(() => setSending(false));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        {children}
        {typed !== undefined && (
          <TextField
            label={`Type “${typed}” to continue`}
            autoComplete="off"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
        {error !== undefined && <ErrorNote error={error} title="It was not done." />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={isDanger ? 'danger' : 'primary'}
            type="submit"
            disabled={isSending || (typed !== undefined && text.trim() !== typed.trim())}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
