import type { UsageItem } from '@lastcall/client';
import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { UsageSearch } from '../../data/search.ts';
import { USAGE_DAYS, type UsageBy, usageReport } from '../../data/usage.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Fact, Facts } from '../../parts/ui/facts.tsx';
import { fieldClass } from '../../parts/ui/field.tsx';
import { Page, Section } from '../../parts/ui/page.tsx';
import { ScrollRegion } from '../../parts/ui/scroll-region.tsx';
import { countInWords, keyInWords, moneyInWords, totalOf } from '../../parts/usage/amounts.ts';

const route = getRouteApi('/usage');

const BY: Readonly<Record<UsageBy, string>> = {
  day: 'Day',
  agent: 'Agent',
  model: 'Model',
  entity: 'Person',
  kind: 'What asked',
};

/** What models were asked, and what it cost. */
export function UsagePage(): ReactElement {
  return (
    <Page title="Usage" below={<Filter />}>
      <Requires scope="read" to="see what models were asked">
        <Report />
      </Requires>
    </Page>
  );
}

/** The choice is in the address, so that it can be shared and survives going back. */
function Filter(): ReactElement {
  const { by = 'day', days = 30 }: UsageSearch = route.useSearch();
  const navigate = useNavigate({ from: '/usage' });
  const set = (change: UsageSearch): void => {
    void navigate({ search: { by, days, ...change }, replace: true });
  };
  return (
    <div className="flex flex-wrap gap-2">
      <select
        aria-label="Added up by"
        value={by}
        onChange={({ target }) => set({ by: target.value as UsageBy })}
        className={`${fieldClass} min-h-8 max-w-48`}
      >
        {Object.entries(BY).map(([key, word]) => (
          <option key={key} value={key}>
            By {word.toLowerCase()}
          </option>
        ))}
      </select>
      <select
        aria-label="Days"
        value={days}
        onChange={({ target }) => set({ days: Number(target.value) })}
        className={`${fieldClass} min-h-8 max-w-48`}
      >
        {USAGE_DAYS.map((count) => (
          <option key={count} value={count}>
            The last {count} days
          </option>
        ))}
      </select>
    </div>
  );
}

function Report(): ReactElement | null {
  const { by = 'day', days = 30 }: UsageSearch = route.useSearch();
  const { data: report, error, refetch } = useQuery(usageReport(by, days));
  if (report === undefined)
    return error === null ? null : (
      <ErrorNote error={error} title="The usage could not be read." retry={() => void refetch()} />
    );
  const { items } = report;
  if (items.length === 0)
    return (
      <EmptyState title="No model was asked in these days.">
        <p>When an agent asks its model, the requests, tokens and costs are shown here, by day and by agent.</p>
      </EmptyState>
    );
  return (
    <>
      <Total items={items} />
      <Section title={`By ${BY[by].toLowerCase()}`}>
        <ScrollRegion label="Usage">
          <Table by={by} items={items} />
        </ScrollRegion>
        {report.truncated === true && <p className="text-quiet">There is more. Choose fewer days.</p>}
      </Section>
    </>
  );
}

function Total({ items }: { items: readonly UsageItem[] }): ReactElement {
  const total = totalOf(items);
  const { requests, inputTokens, cachedTokens, outputTokens, estimated } = total;
  return (
    <Section title="Total">
      <Facts>
        <Fact name="Requests">{requests.toLocaleString()}</Fact>
        <Fact name="Input tokens">
          {countInWords(inputTokens, estimated)}, of which {countInWords(cachedTokens, estimated)} from the cache
        </Fact>
        <Fact name="Output tokens">{countInWords(outputTokens, estimated)}</Fact>
        <Fact name="Cost">
          {total.cost === null ? 'not known: the price of a model is not configured' : moneyInWords(total)}
        </Fact>
      </Facts>
      {estimated && (
        <p className="text-quiet">~ A provider counted no tokens for some requests, so the gateway estimated them.</p>
      )}
    </Section>
  );
}

function Table({ by, items }: { by: UsageBy; items: readonly UsageItem[] }): ReactElement {
  return (
    <table className="w-full text-right whitespace-nowrap tabular-nums">
      <thead className="text-xs text-quiet">
        <tr>
          <th scope="col" className="py-1 pr-4 text-left font-medium">
            {BY[by]}
          </th>
          {['Requests', 'Input', 'Cached', 'Output', 'Cost'].map((head) => (
            <th key={head} scope="col" className="py-1 pl-4 font-medium">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <Row key={`${keyInWords(item)} ${item.agent ?? item.entity ?? ''} ${item.currency}`} item={item} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ item }: { item: UsageItem }): ReactElement {
  const { requests, inputTokens, cachedTokens, outputTokens, estimated, agent } = item;
  const name = <bdi>{withVisibleControls(keyInWords(item))}</bdi>;
  return (
    <tr className="border-t border-line">
      <th scope="row" className="max-w-64 truncate py-1 pr-4 text-left font-normal">
        {agent === undefined ? (
          name
        ) : (
          <Link to="/agents/$id" params={{ id: agent }} className="link">
            {name}
          </Link>
        )}
      </th>
      <td className="py-1 pl-4">{requests.toLocaleString()}</td>
      <td className="py-1 pl-4">{countInWords(inputTokens, estimated)}</td>
      <td className="py-1 pl-4">{countInWords(cachedTokens, estimated)}</td>
      <td className="py-1 pl-4">{countInWords(outputTokens, estimated)}</td>
      <td className="py-1 pl-4">{moneyInWords(item)}</td>
    </tr>
  );
}
