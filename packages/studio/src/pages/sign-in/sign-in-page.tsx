import type { Session } from '@lastcall/client';
import { Info } from 'lucide-react';
import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react';
import type { SignInPageProps } from '../../parts/session/session.tsx';
import { signIn } from '../../parts/session/sign-in.ts';
import { retryAt, signInWords } from '../../parts/session/sign-in-words.ts';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { TextField } from '../../parts/ui/field.tsx';
import { useTitle } from '../../parts/ui/page.tsx';
import { useNow } from '../../parts/ui/time.tsx';

/** For users who were not signed in by a link: they type a key. */
export function SignInPage({ onSignedIn, why }: SignInPageProps): ReactElement {
  useTitle('Sign in');
  const [failed, setFailed] = useState<{ error: unknown; retryAt: number | undefined } | undefined>();
  return (
    <main className="mx-auto flex min-h-full max-w-md flex-col justify-center gap-4 p-4">
      <h1 className="text-2xl font-semibold">Sign in to Lastcall</h1>
      {failed === undefined && <Why why={why} />}
      {failed !== undefined && <Refused error={failed.error} />}
      <KeyForm
        onSignedIn={onSignedIn}
        retryAt={failed?.retryAt}
        onFailed={(error) => setFailed({ error, retryAt: retryAt(error, Date.now()) })}
      />
      <p className="text-quiet">
        Or open the link in the terminal where the gateway was started: it signs you in once. <Code>lastcall open</Code>{' '}
        makes another one.
      </p>
    </main>
  );
}

interface KeyFormProps {
  readonly onSignedIn: (session: Session) => void;
  readonly onFailed: (error: unknown) => void;
  readonly retryAt: number | undefined;
}

function KeyForm({ onSignedIn, onFailed, retryAt = 0 }: KeyFormProps): ReactElement {
  const [key, setKey] = useState('');
  const [isSending, setSending] = useState(false);
  const seconds = Math.ceil((retryAt - useNow()) / 1_000);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setSending(true);
    signIn({ key: key.trim() })
      .then(onSignedIn, onFailed)
      .finally(() => setSending(false));
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3 rounded-card border border-line bg-surface p-4">
      <TextField
        label="Secret key"
        type="password"
        autoComplete="current-password"
        placeholder="lc_sk_…"
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <Button kind="primary" type="submit" disabled={isSending || key.trim() === '' || seconds > 0}>
        {seconds > 0 ? `Try again in ${seconds} s` : isSending ? 'Signing in …' : 'Sign in'}
      </Button>
    </form>
  );
}

function Why({ why }: Pick<SignInPageProps, 'why'>): ReactElement | null {
  if (why === undefined) return null;
  if (why === 'ended')
    return (
      <Note title="Your session has ended.">
        It was revoked, its key was revoked, or it was a week old. Everything you sent is safe; sign in to continue
        where you were.
      </Note>
    );
  if (why === 'signed out')
    return <Note title="You are signed out.">Sign in again to use the gateway from this browser.</Note>;
  return <Refused error={why.refused} />;
}

function Refused({ error }: { error: unknown }): ReactElement {
  const { title, advice } = signInWords(error);
  return (
    <ErrorNote error={error} title={title}>
      <p className="text-quiet">
        {advice.split('`').map((text, index) => (index % 2 === 1 ? <Code key={index}>{text}</Code> : text))}
      </p>
    </ErrorNote>
  );
}

function Note({ title, children }: { title: string; children: ReactNode }): ReactElement {
  return (
    <div role="status" className="flex gap-2 rounded border border-line bg-raised p-3">
      <Info size={16} aria-hidden className="mt-0.5 shrink-0 text-quiet" />
      <div className="flex flex-col gap-1">
        <p className="font-medium">{title}</p>
        <p className="text-quiet">{children}</p>
      </div>
    </div>
  );
}

function Code({ children }: { children: ReactNode }): ReactElement {
  return <code className="rounded bg-raised px-1 font-mono text-xs">{children}</code>;
}
