"""Names and one-sentence definitions of every column that describes a cell.

Method, section 2, is the long form. Tables and the documentation read this list.
"""

COUNTS = ("n_options", "n_items", "n_usable", "n_flipping", "n_without_near_ties")

SCALAR_ESTIMATES = (
    "accuracy",
    "averaged_accuracy",
    "flip_rate",
    "stable_correct",
    "stable_wrong",
    "flip_cap",
    "pooled_sd",
    "skew",
    "rstd",
    "placement_range",
    "h_sd",
    "h_range",
    "kl_bits",
    "tv",
    "max_deviation",
    "chi2",
    "two_order_disagreement",
    "pair_disagreement_mean",
    "pair_disagreement_min",
    "pair_disagreement_max",
    "per_item_sd",
    "canonical_rstd",
    "canonical_accuracy",
    "ckld",
    "minority_share",
    "flip_rate_without_near_ties",
)

VECTOR_ESTIMATES = ("accuracy_by_ordering", "f", "g", "letter_accuracy", "h")

ESTIMATES_WITH_UNDEFINED_DRAWS = (
    "skew",
    "g",
    "h",
    "h_sd",
    "h_range",
    "canonical_rstd",
    "ckld",
    "flip_rate_without_near_ties",
)

WITHOUT_INTERVAL = (
    "identity_residual",
    "skew_noise",
    "pooled_sd_noise",
    "skew_p",
    "uniformity_p",
    "uniformity_p_holm",
    "detectable_deviation",
)

DEFINITIONS = {
    "n_options": "Options per item, K.",
    "n_items": "Items asked, usable or not.",
    "n_usable": "Items answered under every cyclic ordering.",
    "n_flipping": "Usable items whose chosen content changes with the ordering.",
    "n_without_near_ties": "Usable items without a near tie under any cyclic ordering.",
    "accuracy": "Mean correctness over items and orderings.",
    "averaged_accuracy": "Accuracy of one answer per item: the content whose renormalised "
    "probability, averaged over the cyclic orderings, is largest.",
    "accuracy_by_ordering": "Mean correctness over items under each ordering.",
    "flip_rate": "Share of items whose chosen content is not the same under every ordering.",
    "stable_correct": "Share of items that never flip and are right.",
    "stable_wrong": "Share of items that never flip and are wrong.",
    "flip_cap": "The largest flip rate this accuracy allows: min(1, m(1 − accuracy)), with m "
    "the number of orderings.",
    "f": "Share of the answers at each letter, over items and orderings.",
    "pooled_sd": "Population SD over letters of f.",
    "g": "Share of the flipping items' answers at each letter; uniform if nothing flips.",
    "skew": "Population SD over letters of g; undefined if nothing flips.",
    "identity_residual": "pooled_sd minus flip_rate times skew: zero but for rounding.",
    "letter_accuracy": "Accuracy when the correct content stands at each letter.",
    "rstd": "Population SD of letter_accuracy over letters; equals flip_rate times h_sd.",
    "placement_range": "Largest minus smallest letter_accuracy; equals flip_rate times h_range.",
    "h": "Accuracy of the flipping items when the correct content stands at each letter.",
    "h_sd": "Population SD of h over letters.",
    "h_range": "Largest minus smallest entry of h.",
    "kl_bits": "Kullback–Leibler divergence of f from uniform, in bits.",
    "tv": "Total variation distance of f from uniform: half the sum of |f − 1/K|.",
    "max_deviation": "Largest |f − 1/K| over letters.",
    "chi2": "K times the sum over letters of (f − 1/K)².",
    "two_order_disagreement": "Share of items whose chosen content differs between rotations 0 "
    "and ⌊K/2⌋.",
    "pair_disagreement_mean": "Share of items whose chosen content differs between two orderings, "
    "mean over all pairs of distinct orderings.",
    "pair_disagreement_min": "The same share for the pair of orderings that disagree least.",
    "pair_disagreement_max": "The same share for the pair of orderings that disagree most.",
    "per_item_sd": "Mean over items of the population SD over letters of the item's own answers.",
    "canonical_rstd": "Population SD over letters of the share answered correctly among items "
    "whose gold is that letter, canonical ordering alone; undefined if a letter is never gold.",
    "canonical_accuracy": "Mean correctness under the canonical ordering.",
    "ckld": "Divergence of the gold letters from the predicted letters under the canonical "
    "ordering, in nats; undefined if a gold letter is never predicted.",
    "minority_share": "One minus the mean over items of the share of the item's most frequent "
    "content.",
    "flip_rate_without_near_ties": "Flip rate of the items without a near tie.",
    "skew_noise": "Mean skew when every item's letter histogram is rotated at random: the part "
    "that few items explain.",
    "pooled_sd_noise": "Mean pooled SD under the same random rotations.",
    "skew_p": "Share of random rotations whose skew is at least the observed one, the "
    "observation counted in.",
    "uniformity_p": "p value of the hypothesis that no letter is favoured: "
    "min(1, 2K·exp(−2·N·max_deviation²)).",
    "uniformity_p_holm": "uniformity_p after Holm's correction over the cells of one readout.",
    "detectable_deviation": "The max_deviation that rejects uniformity at the 5% level before "
    "Holm's correction.",
    "few_flipping": "True if fewer items flip than the settings ask for (30 unless changed).",
}
