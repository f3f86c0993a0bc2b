import type { Run } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import type { CallRow, StepRow } from '@lastcall/client/timeline';
import { ArrowLeft, X } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { changesInWords, codeOf, originInWords } from '../../parts/run/call-words.ts';
import type { RunState } from '../../parts/run/timeline/run-state.ts';
import { OutcomeMark } from '../../parts/ui/outcome.tsx';
import { Tabs } from '../../parts/ui/tabs.tsx';
import { duration } from '../../parts/ui/time.tsx';
import { ChangesTab } from './changes-tab.tsx';
import { CopyButton } from './copy-button.tsx';
import { ForkButton } from './fork-dialog.tsx';
import { InputTab } from './input-tab.tsx';
import { OutputTab } from './output-tab.tsx';
import { ReceiptTab } from './receipt-tab.tsx';
import { RequestTab } from './request-tab.tsx';
import { StateLink } from './state-link.tsx';
import { StepTab } from './step-tab.tsx';

interface PanelProps {
  readonly state: RunState;
  readonly run: Run;
}

const CALL_TABS = ['input', 'output', 'changes', 'receipt', 'request'] as const;
const STEP_TABS = ['reply', 'request'] as const;

interface CallPanelProps extends PanelProps {
  /** The run in which it ended. */
  readonly endedIn: Run;
  readonly call: CallRow;
  readonly numbers: ReadonlyMap<string, string>;
}

/** All details of one call. */
export function CallPanel({ state, run, endedIn, call, numbers }: CallPanelProps): ReactElement {
  const tab = CALL_TABS.find((one) => one === state.search.tab) ?? 'output';
  const changes = changesInWords(call);
  const words = {
    input: 'Input',
    output: 'Output',
    changes: changes === undefined ? 'Changes' : `Changes: ${changes}`,
    receipt: 'Receipt',
    request: 'Request',
  };
  const heading = (
    <>
      <OutcomeMark name={call.outcome} detail={codeOf(call)} />
      <bdi className="truncate font-semibold">{withVisibleControls(call.toolName)}</bdi>
      <span className="text-xs text-quiet">{whereAndHowLong(call)}</span>
      <span className="ml-auto">
        <CopyButton text={`${location.origin}/calls/${call.callId}`} label="Copy link" />
      </span>
    </>
  );
  return (
    <Panel state={state} label={`Call ${call.toolName}`} heading={heading} tabs={CALL_TABS} words={words} tab={tab}>
      {tab === 'input' && <InputTab call={call} />}
      {tab === 'output' && <OutputTab call={call} numbers={numbers} />}
      {tab === 'changes' && <ChangesTab call={call} />}
      {tab === 'receipt' && <ReceiptTab call={call} run={endedIn} />}
      {tab === 'request' && <RequestTab run={run} step={call.step} isOfMachine={call.origin !== undefined} />}
    </Panel>
  );
}

function whereAndHowLong({ step, origin, number, startedAt, endedAt, outcome, laterEndAt }: CallRow): string {
  const by = origin === undefined ? '' : `, ${withVisibleControls(originInWords(origin))}`;
  const place = `${step === undefined ? 'asked for by an earlier run' : `step ${step}, call ${number}`}${by}`;
  const isTimed =
    startedAt !== undefined &&
    endedAt !== undefined &&
    endedAt > startedAt &&
    laterEndAt === undefined &&
    outcome !== 'waiting' &&
    outcome !== 'unknown';
  return isTimed ? `${place}, ${duration(endedAt - startedAt)}` : place;
}

interface StepPanelProps extends PanelProps {
  readonly row: StepRow;
  /** All calls of the run. */
  readonly calls: readonly CallRow[];
}

/** All details of one reply of the model. */
export function StepPanel({ state, run, row, calls }: StepPanelProps): ReactElement {
  const tab = STEP_TABS.find((one) => one === state.search.tab) ?? 'reply';
  const heading = (
    <>
      <span className="font-semibold">Step {row.step}</span>
      {row.origin !== undefined && <span className="text-sm">{withVisibleControls(originInWords(row.origin))}</span>}
      <span className="text-xs text-quiet">{row.startedAt !== undefined && duration(row.endedAt - row.startedAt)}</span>
      <span className="ml-auto">
        <ForkButton run={run} step={row.step} node={row.origin?.node} calls={calls} />
      </span>
    </>
  );
  return (
    <Panel
      state={state}
      label={`Step ${row.step}`}
      heading={heading}
      tabs={STEP_TABS}
      words={{ reply: 'Reply', request: 'Request' }}
      tab={tab}
    >
      {tab === 'reply' ? (
        <StepTab row={row} />
      ) : (
        <RequestTab run={run} step={row.step} isOfMachine={row.origin !== undefined} />
      )}
    </Panel>
  );
}

interface FrameProps<T extends string> {
  readonly state: RunState;
  readonly label: string;
  readonly heading: ReactNode;
  readonly tabs: readonly T[];
  readonly words: Readonly<Record<T, string>>;
  readonly tab: T;
  readonly children: ReactNode;
}

/** Below the timeline. On a narrow screen it is the whole page, with a way back. */
function Panel<T extends string>({ state, label, heading, tabs, words, tab, children }: FrameProps<T>): ReactElement {
  return (
    <section
      aria-label={label}
      className="flex min-h-0 flex-1 flex-col border-t border-line bg-surface wide:flex-none wide:basis-[45%]"
    >
      <header className="flex flex-col gap-1 border-b border-line px-4 wide:px-6 pt-2 pb-3">
        <div className="flex min-w-0 items-center gap-2">
          <StateLink
            state={state}
            change={{ call: undefined, tab: undefined }}
            label="Back to the timeline"
            className="-ml-1 inline-flex size-7 items-center justify-center rounded hover:bg-raised wide:hidden pointer-coarse:size-11"
          >
            <ArrowLeft size={16} aria-hidden />
          </StateLink>
          <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2">{heading}</div>
          <StateLink
            state={state}
            change={{ call: undefined, tab: undefined }}
            label="Close"
            className="hidden size-7 items-center justify-center rounded text-quiet hover:bg-raised wide:inline-flex"
          >
            <X size={16} aria-hidden />
          </StateLink>
        </div>
        <Tabs label="What of it">
          {tabs.map((one) => (
            <StateLink key={one} state={state} change={{ tab: one }} isCurrent={one === tab} className={panelTabClass}>
              {words[one]}
            </StateLink>
          ))}
        </Tabs>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-3">{children}</div>
    </section>
  );
}

const panelTabClass =
  'border-b-2 border-transparent px-2 py-1.5 text-sm whitespace-nowrap text-quiet hover:text-text aria-[current=true]:border-text aria-[current=true]:font-medium aria-[current=true]:text-text';
