"""What fitted models must be warned of, by released values alone: one file per family, named by the models' cards."""
