import { ClientError, type ConnectionState } from '@lastcall/client';
import { useQueryClient } from '@tanstack/react-query';
import { Radio, WifiOff } from 'lucide-react';
import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';

/**
 * The state of the page's stream; without one, whether the gateway responds. A tab has one stream at most: a browser allows six connections per host for all its
 * tabs.
 */
type Reported =
  | { readonly state: 'none' | 'connecting' | 'live' | 'back' }
  | { readonly state: 'lost'; readonly since: number };

interface Reporting {
  readonly reported: Reported;
  report(state: ConnectionState | undefined): void;
}

const Context = createContext<Reporting>({ reported: { state: 'none' }, report: () => {} });

export function ConnectionProvider({ children }: { children: ReactNode }): ReactElement {
  const [streamed, setReported] = useState<Reported>({ state: 'none' });
  const polled = usePolled();
  const reported = streamed.state === 'none' ? polled : streamed;
  const calm = useRef<ReturnType<typeof setTimeout>>(undefined);
  const value = useMemo<Reporting>(
    () => ({
      reported,
      report(state) {
        clearTimeout(calm.current);
        setReported((before) => after(before, state));
        if (state === 'live') calm.current = setTimeout(() => setReported({ state: 'live' }), 6_000);
      },
    }),
    [reported],
  );
  return <Context value={value}>{children}</Context>;
}

/** A page without a stream notices by what it polls that the gateway does not respond. */
function usePolled(): Reported {
  const queries = useQueryClient();
  const [polled, setPolled] = useState<Reported>({ state: 'none' });
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated') return;
        const { action } = event;
        if (action.type === 'success' && action.manual !== true) setPolled((before) => after(before, undefined));
        else if (action.type === 'error' && isUnreachable(action.error))
          setPolled((before) => after(before, 'waiting'));
      }),
    [queries],
  );
  return polled;
}

function isUnreachable(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'unreachable';
}

function after(before: Reported, state: ConnectionState | undefined): Reported {
  if (state === undefined) return before.state === 'none' ? before : { state: 'none' };
  if (state === 'connecting') return { state };
  if (state === 'live') return { state: before.state === 'lost' || before.state === 'back' ? 'back' : 'live' };
  return before.state === 'lost' ? before : { state: 'lost', since: Date.now() };
}

/** Reports the state of this page's stream to the header. */
export function useReportConnection(state: ConnectionState): void {
  const { report } = useContext(Context);
  const current = useRef(report);
  current.current = report;
  useEffect(() => current.current(state), [state]);
  useEffect(() => () => current.current(undefined), []);
}

/** True while the page's stream is interrupted. Controls that need the gateway are disabled then, and say why. */
export function useIsOffline(): boolean {
  return useContext(Context).reported.state === 'lost';
}

export function ConnectionBadge(): ReactElement {
  const { reported } = useContext(Context);
  const isLost = reported.state === 'lost';
  const Icon = isLost ? WifiOff : Radio;
  return (
    <span role="status" className={`inline-flex items-center gap-1 text-xs ${isLost ? 'text-wait' : 'text-quiet'}`}>
      {reported.state === 'none' ? null : (
        <>
          <Icon size={16} aria-hidden />
          {inWords(reported)}
        </>
      )}
    </span>
  );
}

function inWords(reported: Reported): string {
  switch (reported.state) {
    case 'none':
      return '';
    case 'connecting':
      return 'connecting';
    case 'live':
      return 'live';
    case 'back':
      return 'back, nothing was missed';
    case 'lost':
      return `offline since ${clock.format(reported.since)}, reconnecting`;
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
