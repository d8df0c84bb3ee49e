/** How a kind's table is looked at: its order, its conditions and its page. */

/** A condition on one column; `words` are what it is called on the page. One of `value`, `contains` and `isEmpty`. */
export interface Condition {
  column: string;
  words: string;
  value?: string;
  contains?: string;
  isEmpty?: true;
}

export interface Query {
  sort: string | null;
  descending: boolean;
  conditions: readonly Condition[];
  offset: number;
}

/** The column of the things' own names. */
export const NAME = "";
export const START: Query = { sort: null, descending: false, conditions: [], offset: 0 };
/** The rows of a page, as the service has them. */
export const PAGE = 25;

/** What is asked of the service. */
export function wantedBy(kind: string | null, { sort, descending, conditions, offset }: Query): object {
  const filters = conditions.map(({ column, value, contains, isEmpty }) => ({
    column,
    ...(value !== undefined && { value }),
    ...(contains !== undefined && { contains }),
    ...(isEmpty && { is_empty: true }),
  }));
  return { kind, sort, descending, filters, offset };
}

/** A column's head pressed: up, then down, then as before. */
export function sortedBy(query: Query, column: string): Query {
  if (query.sort !== column) {
    return { ...query, sort: column, descending: false, offset: 0 };
  }
  return query.descending ? { ...query, sort: null, descending: false, offset: 0 } : { ...query, descending: true, offset: 0 };
}

/** With this condition in the place of the column's former one. */
export function narrowed(query: Query, condition: Condition): Query {
  return { ...query, conditions: [...others(query, condition.column), condition], offset: 0 };
}

export function widened(query: Query, column: string): Query {
  return { ...query, conditions: others(query, column), offset: 0 };
}

function others(query: Query, column: string): Condition[] {
  return query.conditions.filter((each) => each.column !== column);
}
