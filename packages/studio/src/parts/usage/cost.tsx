import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { gatewayStatus } from '../../data/status.ts';

/** An amount with its currency, which is that of the configured prices. */
export function Cost({ of }: { of: number }): ReactElement {
  const { data } = useQuery(gatewayStatus);
  const amount = of.toLocaleString(undefined, { maximumSignificantDigits: 3 });
  return (
    <>
      {amount} {data?.currency}
    </>
  );
}
