import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { gatewayStatus } from '../data/status.ts';

/** Which model answers. The rehearsal says what it is: a newcomer must not take it for a model. */
export function ModelBadge(): ReactElement | null {
  const { data } = useQuery(gatewayStatus);
  if (data === undefined) return null;
  return <span title={data.model.hint}>model {data.model.name}</span>;
}
