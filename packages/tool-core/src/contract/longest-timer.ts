/** What `setTimeout` can wait for, in milliseconds; it takes anything longer for 1 ms. */
export const longestTimerMs = 2_147_483_647
