import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** Cases of recorded runs, and the results of versions. */
export interface Evaluations {
  list(
    query?: Ops['GET /api/evaluations']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/evaluations']['answer']>;
  /** The evaluation with this name. It is created if there is none. */
  open(name: string, options?: RequestOptions): Promise<Ops['POST /api/evaluations']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Ops['GET /api/evaluations/{id}']['answer']>;
  /** With its cases and results. */
  delete(id: string, options?: RequestOptions): Promise<Ops['DELETE /api/evaluations/{id}']['answer']>;
  /** The cases with their results in each version, worst first. */
  results(
    id: string,
    query?: Ops['GET /api/evaluations/{id}/results']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/evaluations/{id}/results']['answer']>;
  cases(
    id: string,
    query?: Ops['GET /api/evaluations/{id}/cases']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/evaluations/{id}/cases']['answer']>;
  /** Stores a run as a case. */
  addCase(
    id: string,
    body: Ops['POST /api/evaluations/{id}/cases']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/evaluations/{id}/cases']['answer']>;
  deleteCase(
    id: string,
    caseId: string,
    options?: RequestOptions,
  ): Promise<Ops['DELETE /api/evaluations/{id}/cases/{caseId}']['answer']>;
  /** Stores the results of a version, or adds some to them. */
  report(
    id: string,
    body: Ops['POST /api/evaluations/{id}/reports']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/evaluations/{id}/reports']['answer']>;
  deleteReport(
    id: string,
    reportId: string,
    options?: RequestOptions,
  ): Promise<Ops['DELETE /api/evaluations/{id}/reports/{reportId}']['answer']>;
}

export function evaluations({ call }: Connection): Evaluations {
  return {
    list: (query, options) => call('GET /api/evaluations', { query, ...options }),
    open: (name, options) => call('POST /api/evaluations', { body: { name }, ...options }),
    get: (id, options) => call('GET /api/evaluations/{id}', { params: { id }, ...options }),
    delete: (id, options) => call('DELETE /api/evaluations/{id}', { params: { id }, ...options }),
    results: (id, query, options) => call('GET /api/evaluations/{id}/results', { params: { id }, query, ...options }),
    cases: (id, query, options) => call('GET /api/evaluations/{id}/cases', { params: { id }, query, ...options }),
    addCase: (id, body, options) => call('POST /api/evaluations/{id}/cases', { params: { id }, body, ...options }),
    deleteCase: (id, caseId, options) =>
      call('DELETE /api/evaluations/{id}/cases/{caseId}', { params: { id, caseId }, ...options }),
    report: (id, body, options) => call('POST /api/evaluations/{id}/reports', { params: { id }, body, ...options }),
    deleteReport: (id, reportId, options) =>
      call('DELETE /api/evaluations/{id}/reports/{reportId}', { params: { id, reportId }, ...options }),
  };
}
