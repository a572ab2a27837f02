"""Stage 4 of an evaluation, the warnings: all checks in order, and the functions that run them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unskew.evaluation.checking import data, exposed, gamma, imputation, models, overlap, seeds, time_leak, weights
from unskew.evaluation.checking.check import Check, check

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

ROWS = (
    data.repeated_rows,
    data.test_rows_in_train,
    data.test_items_outside,
    data.test_items_unknown,
    data.rows_without_rank,
    data.users_without_positive,
    data.users_left_out,
)
NUMBERS = (
    models.users_unknown_to_model,
    models.items_unknown_to_model,
    weights.rows_without_propensity,
    models.short_lists,
    models.seen_items_in_lists,
    models.many_ties,
    weights.heavy_weights,
    weights.weight_of_new_items,
    weights.propensities_add_up,
    data.few_users,
    data.cutoff_without_effect,
    data.validation_size,
    weights.popularity_without_training_rows,
    time_leak.test_older_than_train,
    time_leak.popularity_of_the_future,
    time_leak.training_after_test,
    weights.snips_per_user,
)
CHECKS: tuple[Check, ...] = (
    data.rows_left_out,
    data.catalogue_incomplete,
    weights.propensity_column,
    models.models_without_ids,
    models.ids_like_row_numbers,
    models.items_unknown_to_log,
    models.models_not_judged,
    seeds.seeds_not_grouped,
    seeds.few_seeds,
    seeds.seeds_without_metric,
    overlap.validation_overlap,
    overlap.uniform_overlap,
    *ROWS,
    exposed.exposed_users_without_positive,
    exposed.exposed_rows_in_train,
    exposed.few_hits,
    exposed.cutoff_without_effect_in_sample,
    exposed.ndcg_of_single_users,
    exposed.reduction_of_few_users,
    exposed.weights_on_exposed_rows,
    data.rating_rows_left_out,
    models.accuracy_never_hit,
    *NUMBERS,
    data.ratings_without_condition,
    exposed.shares_that_rise,
    models.sampled_correction,
    gamma.gamma_fit,
    imputation.slice_not_used,
    imputation.slice_rows,
    imputation.slice_not_random,
    imputation.slice_few_positives,
    imputation.refuted_by_slice,
    imputation.imputation_resembles_model,
    imputation.level_of_relevance,
    imputation.chances_lacking,
    models.different_products,
)
"""All checks, in the order in which a report lists their warnings."""
PART_CHECKS = tuple(
    one
    for one in CHECKS
    if one
    in {
        *(
            data.rows_left_out,
            models.models_not_judged,
            seeds.seeds_not_grouped,
            *ROWS,
            data.rating_rows_left_out,
            weights.propensity_column,
        ),
        *(one for one in NUMBERS if one not in {data.validation_size, time_leak.training_after_test}),
        *(data.ratings_without_condition, models.different_products),
    }
)
"""The checks of a run over parts, which has numbers of rows and no rows."""
# an audit words these in its own way
AUDIT_CHECKS = tuple(
    one
    for one in (data.rows_left_out, *ROWS, *NUMBERS)
    if one not in {data.test_rows_in_train, time_leak.popularity_of_the_future, time_leak.training_after_test}
)


def find_warnings(report: "Report", checks: Sequence[Check] = CHECKS) -> Iterator[tuple[Check, str]]:
    """Yield each warning of a report, with the check that it comes from."""
    for one in checks:
        for text in one.look(report):
            yield one, text


def warn(report: "Report", checks: Sequence[Check] = CHECKS) -> tuple[str, ...]:
    """The warnings of a report, in the order of the checks."""
    return tuple(text for _, text in find_warnings(report, checks))


__all__ = ["AUDIT_CHECKS", "CHECKS", "PART_CHECKS", "Check", "check", "find_warnings", "warn"]
